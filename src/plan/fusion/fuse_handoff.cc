#include "plan/fusion/fuse_handoff.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/cloner.h"
#include "plan/fusion/handoff_body.h"
#include "plan/fusion/handoff_kernels.h"
#include "plan/fusion/handoff_window.h"

namespace vyre::plan {
namespace {

constexpr size_t most_buffers = 64;

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// Writes the joined kernel: see fuse_handoff.h.
class Fuser {
 public:
  Fuser(HandoffKernels& kernels, const HandoffFacts& facts)
      : k_(kernels),
        f_(facts),
        win_(facts.window),
        to_(kernels.to),
        w_(to_),
        producer_lanes_(kernels.producer.workgroup[0]) {}

  void run() {
    w_.loc = k_.producer.loc;
    write_numbers();
    write_producer();
    is_producer_ = false;
    w_.loc = k_.consumer.loc;
    w_.effect(Opcode::Barrier, Type::Void, {}, uint64_t(Scope::Workgroup));
    Cloner copier(k_.consumer, w_);
    const auto first = OpId(to_.ops.size());
    for (OpId op = k_.consumer.blocks[body_block].first; op != none; op = k_.consumer.op(op).next)
      copier.copy(op);
    const auto end = OpId(to_.ops.size());
    for (OpId op = first; op < end; ++op) adapt_consumer(op);
    finish();
  }

 private:
  ValueId u32(uint64_t n) { return w_.constant(Type::U32, n); }
  ValueId i64(int64_t n) { return w_.constant(Type::I64, uint64_t(n)); }

  // ---- Values that are the same for the whole workgroup.

  /// group · factor + offset, modulo 2^32.
  ValueId line(int64_t factor, int64_t offset) {
    if (factor == 0) return u32(uint64_t(offset));
    ValueId v =
        factor == 1 ? group_ : w_.op(Opcode::Mul, Type::U32, {group_, u32(uint64_t(factor))});
    return offset == 0 ? v : w_.op(Opcode::Add, Type::U32, {v, u32(uint64_t(offset))});
  }

  void write_numbers() {
    group_ = w_.op(Opcode::WorkgroupId, Type::Void, {}, 0);
    lane_ = w_.op(Opcode::LocalId, Type::Void, {}, 0);
    uint64_t row = to_.workgroup[0];
    for (uint32_t dim = 1; dim < 3; row *= to_.workgroup[dim++]) {
      if (to_.workgroup[dim] == 1) continue;
      const ValueId id = w_.op(Opcode::LocalId, Type::Void, {}, dim);
      const ValueId before = w_.op(Opcode::Mul, Type::U32, {id, u32(row)});
      lane_ = w_.op(Opcode::Add, Type::U32, {lane_, before});
    }
    lanes_ = row;
    count_ = w_.op(Opcode::Scalar, Type::U64, {}, k_.count.value());
    groups_ = w_.op(Opcode::Scalar, Type::U32, {}, k_.groups.value());
    invocations_ = w_.op(Opcode::Mul, Type::U32, {groups_, u32(producer_lanes_)});
    base_ = line(win_.stride, win_.first);
    const int64_t a = win_.writer_stride;
    ValueId exact_base = none;
    if (f_.stores_from_zero || !f_.is_aligned) {
      const ValueId group = w_.op(Opcode::Cast, Type::I64, {group_});
      exact_base =
          w_.op(Opcode::Add, Type::I64,
                {w_.op(Opcode::Mul, Type::I64, {group, i64(win_.stride)}), i64(win_.first)});
    }
    if (f_.stores_from_zero) {
      // Elements of the window that the buffer has: one test for both ends.
      const ValueId left =
          w_.op(Opcode::Sub, Type::I64, {w_.op(Opcode::Cast, Type::I64, {count_}), exact_base});
      const ValueId some =
          w_.op(Opcode::Clamp, Type::I64, {left, i64(0), i64(int64_t(win_.elements))});
      limit_ = w_.op(Opcode::Cast, Type::U32, {some});
    }
    if (f_.is_aligned) {
      first_ = line(win_.stride / a, ceil_div(win_.first - win_.high, a));
      return;
    }
    // Rounded up; moved by multiples of a so that the dividend is not negative.
    const int64_t moved = std::max<int64_t>(0, ceil_div(win_.high - win_.first, a));
    const ValueId n =
        w_.op(Opcode::Add, Type::I64, {exact_base, i64(moved * a - win_.high + a - 1)});
    const ValueId q = w_.op(Opcode::Div, Type::I64, {n, i64(a)});
    first_ = w_.op(Opcode::Cast, Type::U32, {w_.op(Opcode::Sub, Type::I64, {q, i64(moved)})});
  }

  // ---- The producer: each lane takes every lanes_-th invocation.

  void write_producer() {
    if (!f_.stores_from_zero) return write_loop(false);
    // Where all of the invocations exist and the buffer has all of the window, which is everywhere
    // but at the ends, no invocation needs a check.
    const ValueId first = w_.op(Opcode::Cast, Type::U64, {first_});
    const ValueId end =
        w_.op(Opcode::Add, Type::U64, {first, w_.constant(Type::U64, win_.invocations)});
    const ValueId exist =
        w_.op(Opcode::Le, Type::U64, {end, w_.op(Opcode::Cast, Type::U64, {invocations_})});
    const ValueId fill = w_.op(Opcode::Eq, Type::U32, {limit_, u32(win_.elements)});
    const ValueId whole = w_.op(Opcode::And, Type::Bool, {exist, fill});
    const OpId choice = w_.open(Opcode::If, {&whole, 1}, 2);
    const BlockId outside = w_.block;
    for (const bool is_whole : {true, false}) {
      w_.block = to_.op(choice).first_block + !is_whole;
      write_loop(is_whole);
      w_.exit(Opcode::Yield, {});
    }
    w_.block = outside;
  }

  void write_loop(bool is_whole) {
    const uint64_t trips = (win_.invocations + lanes_ - 1) / lanes_;
    const ValueId bounds[] = {u32(0), u32(trips), u32(1)};
    const OpId loop = w_.open(Opcode::For, bounds, 1);
    const BlockId outside = w_.block;
    w_.block = to_.op(loop).first_block;
    const ValueId trip = to_.add_argument(w_.block, Type::U32);
    const ValueId at =
        w_.op(Opcode::Add, Type::U32, {w_.op(Opcode::Mul, Type::U32, {trip, u32(lanes_)}), lane_});
    at_ = at;
    i_ = w_.op(Opcode::Add, Type::U32, {first_, at});
    ValueId runs = none;
    // One below zero is beyond all.
    if (!is_whole) runs = w_.op(Opcode::Lt, Type::U32, {i_, invocations_});
    if (win_.invocations % lanes_ != 0) {
      const ValueId wanted = w_.op(Opcode::Lt, Type::U32, {at, u32(win_.invocations)});
      runs = runs == none ? wanted : w_.op(Opcode::And, Type::Bool, {wanted, runs});
    }
    const BlockId body = w_.block;
    if (runs != none) {
      const OpId guard = w_.open(Opcode::If, {&runs, 1}, 2);
      w_.block = to_.op(guard).first_block + 1;
      w_.exit(Opcode::Yield, {});
      w_.block = to_.op(guard).first_block;
      write_body(trips > 1, is_whole);
      w_.block = body;
      w_.exit(Opcode::Yield, {});
    } else {
      write_body(trips > 1, is_whole);
    }
    w_.block = outside;
  }

  /// One invocation of the producer; ends the block.
  void write_body(bool is_one_of_many, bool is_whole) {
    if (producer_uses(Opcode::LocalId))
      local_ = w_.op(Opcode::Rem, Type::U32, {i_, u32(producer_lanes_)});
    if (producer_uses(Opcode::WorkgroupId))
      of_group_ = w_.op(Opcode::Div, Type::U32, {i_, u32(producer_lanes_)});
    zero_ = u32(0);
    one_ = u32(1);
    size_ = u32(producer_lanes_);
    if (is_one_of_many) clear_arrays();
    const auto first = OpId(to_.ops.size());
    copy_producer_body(k_.producer, w_);
    const auto end = OpId(to_.ops.size());
    for (OpId op = first; op < end; ++op) adapt_producer(op, is_whole);
  }

  bool producer_uses(Opcode code) const {
    return std::any_of(k_.producer.ops.begin(), k_.producer.ops.end(),
                       [&](const Op& o) { return o.code == code; });
  }

  /// Every invocation finds its private arrays zeroed.
  void clear_arrays() {
    IdMap<BufferId, bool> is_producers(to_.buffers.size(), false);
    walk(k_.producer, [&](OpId op) {
      if (info(k_.producer.op(op).code).attribute == AttrKind::Memory)
        is_producers[k_.producer.memory(op).buffer] = true;
    });
    for (const BufferId i : to_.buffers.ids()) {
      uint64_t count = 0;
      if (!is_producers[i] || to_.buffers[i].role != Role::Private ||
          !to_.formulas.is_constant(to_.buffers[i].count, &count))
        continue;
      const ValueId bounds[] = {w_.constant(Type::U64, 0), w_.constant(Type::U64, count),
                                w_.constant(Type::U64, 1)};
      const OpId loop = w_.open(Opcode::For, bounds, 1);
      const BlockId outside = std::exchange(w_.block, to_.op(loop).first_block);
      const ValueId at = to_.add_argument(w_.block, Type::U64);
      const Type t = value_type(to_.buffers[i].element);
      MemoryRef m;
      m.buffer = i;
      w_.effect(Opcode::Store, t, {at, w_.constant(t, 0)}, m.pack());
      w_.exit(Opcode::Yield, {});
      w_.block = outside;
    }
  }

  // ---- Copied ops that had another meaning in the original kernel.

  void replace(OpId op, ValueId by) {
    replaced_.push_back({to_.result(op), by});
    removed_.push_back(op);
  }

  /// Inserts an op before another one.
  ValueId insert(OpId before, Opcode code, Type type, std::initializer_list<ValueId> operands,
                 uint64_t attr = 0) {
    at_op_.before(before);
    return at_op_.op(code, type, operands, attr);
  }

  bool uses_window(OpId op) const {
    const AttrKind kind = info(to_.op(op).code).attribute;
    return (kind == AttrKind::Memory || kind == AttrKind::Buffer) &&
           to_.op(op).buffer() == k_.window;
  }

  /// The buffer's length is a number of the launch.
  bool adapt_length(OpId op) {
    const Opcode code = to_.op(op).code;
    if (code == Opcode::Len64) replace(op, count_);
    if (code == Opcode::Len) replace(op, insert(op, Opcode::Cast, Type::U32, {count_}));
    return code == Opcode::Len || code == Opcode::Len64;
  }

  std::optional<uint64_t> constant(ValueId v) const {
    const OpId def = to_.values[v].def;
    if (def == none || to_.op(def).code != Opcode::Const) return std::nullopt;
    return to_.op(def).attr;
  }

  /// Returns v - stride · group where v is a sum with that term, else none: the result cannot wrap,
  /// and code for neighbouring lanes is simple.
  ValueId without_group(OpId at, ValueId v, int depth) {
    constexpr int most_depth = 8;
    const OpId def = to_.values[v].def;
    if (def == none || to_.type(v) != Type::U32 || depth > most_depth || win_.stride == 0)
      return none;
    if (v == i_ && win_.writer_stride == 1 && f_.is_aligned) {
      const int64_t before = ceil_div(win_.first - win_.high, 1);
      const ValueId offset = insert(at, Opcode::Const, Type::U32, {}, uint32_t(before));
      return insert(at, Opcode::Add, Type::U32, {at_, offset});
    }
    const Op o = to_.op(def);
    const auto is = [&](ValueId x, Opcode code) {
      const OpId d = to_.values[x].def;
      return d != none && to_.op(d).code == code && to_.op(d).attr == 0;
    };
    if (o.code == Opcode::GlobalId && o.attr == 0) {
      if (is_producer_) return i_ == v ? none : without_group(at, i_, depth + 1);
      if (win_.stride == int64_t(to_.workgroup[0]))
        return insert(at, Opcode::LocalId, Type::Void, {}, 0);
      return none;
    }
    if (o.code == Opcode::Mul && !is_producer_) {
      const ValueId a = to_.operand(def, 0);
      const auto k = constant(to_.operand(def, 1));
      if (k && is(a, Opcode::WorkgroupId) && *k == uint64_t(win_.stride))
        return insert(at, Opcode::Const, Type::U32, {}, 0);
      if (k && is(a, Opcode::GlobalId) && *k * to_.workgroup[0] == uint64_t(win_.stride))
        return insert(at, Opcode::Mul, Type::U32,
                      {insert(at, Opcode::LocalId, Type::Void, {}, 0), to_.operand(def, 1)});
      return none;
    }
    if (o.code != Opcode::Add && o.code != Opcode::Sub) return none;
    const ValueId a = to_.operand(def, 0), b = to_.operand(def, 1);
    if (const ValueId rest = without_group(at, a, depth + 1); rest != none)
      return insert(at, o.code, Type::U32, {rest, b});
    if (o.code == Opcode::Sub) return none;
    if (const ValueId rest = without_group(at, b, depth + 1); rest != none)
      return insert(at, Opcode::Add, Type::U32, {a, rest});
    return none;
  }

  /// Converts an index of the buffer to one of the window. Modulo 2^32, which is exact for elements
  /// in the window; elements near it are outside.
  ValueId relative(OpId op) {
    ValueId index = to_.operand(op, 0);
    if (const ValueId rest = without_group(op, index, 0); rest != none) {
      if (win_.first == 0) return rest;
      const ValueId first = insert(op, Opcode::Const, Type::U32, {}, uint32_t(win_.first));
      return insert(op, Opcode::Sub, Type::U32, {rest, first});
    }
    if (to_.type(index) != Type::U32) index = insert(op, Opcode::Cast, Type::U32, {index});
    return insert(op, Opcode::Sub, Type::U32, {index, base_});
  }

  void set_index(OpId op, ValueId index, bool in_bounds) {
    MemoryRef m = to_.memory(op);
    m.in_bounds = in_bounds;
    to_.op(op).attr = m.pack();
    to_.list(to_.op(op).operands)[0] = index;
  }

  void adapt_consumer(OpId op) {
    if (!uses_window(op) || adapt_length(op)) return;
    set_index(op, relative(op), f_.loads_inside);
  }

  void adapt_producer(OpId op, bool is_whole) {
    const bool is_x = to_.op(op).attr == 0;
    switch (to_.op(op).code) {
      case Opcode::GlobalId: return replace(op, is_x ? i_ : zero_);
      case Opcode::LocalId: return replace(op, is_x ? local_ : zero_);
      case Opcode::WorkgroupId: return replace(op, is_x ? of_group_ : zero_);
      case Opcode::NumWorkgroups: return replace(op, is_x ? groups_ : one_);
      case Opcode::WorkgroupSize: return replace(op, is_x ? size_ : one_);
      default: break;
    }
    if (!uses_window(op) || adapt_length(op)) return;
    if (is_whole)
      set_index(op, relative(op), f_.stores_inside);
    else
      guard_store(op);
  }

  /// Drops stores to elements that the buffer does not have.
  void guard_store(OpId op) {
    const ValueId index = relative(op);
    ValueId is_there = none;
    if (f_.stores_from_zero) {
      is_there = insert(op, Opcode::Lt, Type::U32, {index, limit_});
    } else {
      const ValueId was = to_.operand(op, 0);
      const ValueId wide =
          to_.type(was) == Type::U64 ? was : insert(op, Opcode::Cast, Type::U64, {was});
      is_there = insert(op, Opcode::Lt, Type::U64, {wide, count_});
    }
    set_index(op, index, f_.stores_from_zero);
    at_op_.before(op);
    const BlockId then = at_op_.add_if(is_there);
    to_.unlink(op);
    to_.append(then, op);
    at_op_.in(then, [&] { at_op_.exit(Opcode::Yield); });
  }

  void finish() {
    IdMap<ValueId, ValueId> map = identity(to_.values);
    for (const auto& [from, by] : replaced_) map[from] = by;
    replace_values(to_, map);
    for (const OpId op : removed_) to_.unlink(op);
    compact(to_);
  }

  HandoffKernels& k_;
  const HandoffFacts& f_;
  const HandoffWindow& win_;
  Program& to_;
  IrBuilder w_;
  IrBuilder at_op_{to_};
  const uint64_t producer_lanes_;
  uint64_t lanes_ = 0;  // of the joined kernel's workgroup
  ValueId group_ = none, lane_ = none, count_ = none, groups_ = none;
  ValueId invocations_ = none;  // of the producer's launch
  ValueId base_ = none;         // first element of the window, modulo 2^32
  ValueId limit_ = none;        // elements of the window that the buffer has
  ValueId first_ = none;        // first invocation of the producer that is needed
  // Values of the invocation that is run.
  bool is_producer_ = true;  // which body is being adapted
  ValueId at_ = none;        // invocation - first_
  ValueId i_ = none, local_ = none, of_group_ = none, zero_ = none, one_ = none, size_ = none;
  std::vector<std::pair<ValueId, ValueId>> replaced_;
  std::vector<OpId> removed_;
};

}  // namespace

JoinOutcome fuse_handoff(const Program& producer, uint32_t producer_buffer, const Program& consumer,
                         uint32_t consumer_buffer, uint64_t budget) {
  const BufferId out(producer_buffer), in(consumer_buffer);
  JoinOutcome outcome;
  const auto facts = find_handoff(producer, out, consumer, in, budget, outcome.why_not);
  if (!facts) return outcome;
  const size_t buffers = producer.buffers.size() + consumer.buffers.size() + 1;
  if (buffers > most_buffers) {
    outcome.why_not = fmt::format("the fused kernel would have {} buffers, and the limit is {}",
                                  buffers, most_buffers);
    return outcome;
  }
  HandoffKernels kernels = join_kernels(producer, out, consumer, in, facts->window.elements);
  Fuser(kernels, *facts).run();
  JoinedProgram joined;
  joined.program = std::move(kernels.to);
  joined.parameters = std::move(kernels.parameters);
  using Kind = JoinedParameter::Kind;
  joined.limits = {{{Kind::NumWorkgroups, 0, 0}, facts->most_producer_groups},
                   {{Kind::NumWorkgroups, 1, 0}, facts->most_consumer_groups}};
  if (facts->most_count != 0)
    joined.limits.push_back({{Kind::Count, 0, producer_buffer}, facts->most_count});
  outcome.joined = std::move(joined);
  return outcome;
}

}  // namespace vyre::plan
