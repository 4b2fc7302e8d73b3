#include "transform/coarsen.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ir/cloner.h"

namespace vyre::plan {
namespace {

/// Bytes that an invocation should have under way. Smaller elements than words are not worth it:
/// copying bytes on an H200 takes 94 µs instead of 102 by four with CUDA, but 111 instead of 88
/// with Vulkan.
constexpr uint32_t bytes_under_way = 16, least_element = 4;
/// The maximum number of ops to replicate: kernels with more are not bound by memory.
constexpr uint32_t most_ops = 64;
constexpr uint32_t ops_of_function = 24;  // approximate cost of sin and similar functions

/// The replicated code: the head, then the body where the guard holds.
struct Parts {
  std::vector<OpId> head;  // without writes
  ValueId guard = none;    // none: no guard, and the head is empty
  bool unless = false;     // the body runs where the guard does not hold
  std::vector<OpId> body;
};

bool is_straight(const Program& p, OpId op) {
  const Effect effect = info(p.op(op).code).effect;
  return effect == Effect::Pure || effect == Effect::Read || effect == Effect::Write;
}

bool is_only(const Program& p, BlockId block, Opcode exit) {
  const Block& b = p.blocks[block];
  return b.first == b.last && p.op(b.last).code == exit;
}

/// The ops of a block but for its end, from `first` on; nothing if one is not straight.
std::optional<std::vector<OpId>> straight(const Program& p, OpId first, Opcode exit) {
  std::vector<OpId> ops;
  for (OpId op = first; op != none; op = p.op(op).next) {
    if (p.op(op).next == none)
      return p.op(op).code == exit ? std::optional(std::move(ops)) : std::nullopt;
    if (!is_straight(p, op)) return std::nullopt;
    ops.push_back(op);
  }
  return std::nullopt;
}

/// `if c { … }` at the end, or `if c { return } …`.
std::optional<Parts> find_guarded(const Program& p, Parts parts, OpId branch) {
  const BlockId yes = p.block(branch, 0), no = p.block(branch, 1);
  const OpId rest = p.op(branch).next;
  if (p.op(branch).results.count || !is_only(p, no, Opcode::Yield)) return std::nullopt;
  parts.guard = p.operand(branch, 0);
  parts.unless = is_only(p, yes, Opcode::Return);
  if (!parts.unless && p.op(rest).code != Opcode::Return) return std::nullopt;
  auto body = parts.unless ? straight(p, rest, Opcode::Return)
                           : straight(p, p.blocks[yes].first, Opcode::Yield);
  if (!body) return std::nullopt;
  parts.body = std::move(*body);
  return parts;
}

std::optional<Parts> find_parts(const Program& p) {
  for (const Buffer& b : p.buffers)
    if (b.role == Role::Shared || b.role == Role::Private) return std::nullopt;
  Parts parts;
  if (auto all = straight(p, p.blocks[body_block].first, Opcode::Return)) {
    parts.body = std::move(*all);
    return parts;
  }
  for (OpId op = p.blocks[body_block].first; op != none; op = p.op(op).next) {
    if (p.op(op).code == Opcode::If) return find_guarded(p, std::move(parts), op);
    if (!is_straight(p, op) || info(p.op(op).code).effect == Effect::Write) return std::nullopt;
    parts.head.push_back(op);
  }
  return std::nullopt;
}

bool is_place(const Op& o) {
  return (o.code == Opcode::GlobalId || o.code == Opcode::WorkgroupId) && o.attr == 0;
}

bool is_function(Opcode c) {
  return (c >= Opcode::Exp && c <= Opcode::Atan2) || c == Opcode::Div || c == Opcode::Rem ||
         c == Opcode::Sqrt || c == Opcode::Rsqrt;
}

class Coarsener {
 public:
  Coarsener(const Program& from, Parts parts, uint32_t by)
      : p_(from),
        parts_(std::move(parts)),
        by_(by),
        out_(without_body(from)),
        w_(out_),
        same_(from, w_) {}

  Program run() {
    copy_what_is_the_same();
    n_ = w_.op(Opcode::NumWorkgroups, Type::Void, {}, 0);
    local_ = w_.op(Opcode::LocalId, Type::Void, {}, 0);
    const ValueId group = w_.op(Opcode::WorkgroupId, Type::Void, {}, 0);
    first_ = u32(Opcode::Mul, group, number(by_));
    const ValueId last = u32(Opcode::Add, first_, number(by_ - 1));
    const ValueId inside = w_.op(Opcode::Lt, Type::U32, {last, n_});
    if (parts_.guard == none) {
      branch(inside, [&] { together(); }, [&] { one_by_one(); });
    } else {
      const OpId test = w_.open(Opcode::If, std::array{inside}, 2);
      in(test, 0, [&] { return together(); });
      in(test, 1, [&] { return w_.boolean(false); });
      const Type types[] = {Type::Bool};
      const ValueId done = w_.set_results(test, types)[0];
      branch(done, [] {}, [&] { one_by_one(); });
    }
    w_.exit(Opcode::Return, {});
    compact(out_);
    return std::move(out_);
  }

 private:
  ValueId number(uint32_t n) { return w_.constant(Type::U32, n); }
  ValueId u32(Opcode code, ValueId a, ValueId b) { return w_.op(code, Type::U32, {a, b}); }

  /// Writes a block that yields the result of `fn`.
  template <class Fn>
  void in(OpId op, uint32_t block, Fn&& fn) {
    const BlockId outside = w_.block;
    w_.block = out_.block(op, block);
    const ValueId yielded[] = {fn()};
    w_.exit(Opcode::Yield, {yielded, yielded[0] == none ? size_t{0} : size_t{1}});
    w_.block = outside;
  }
  template <class Then, class Else>
  void branch(ValueId condition, Then&& then, Else&& otherwise) {
    const OpId op = w_.open(Opcode::If, std::array{condition}, 2);
    in(op, 0, [&] { return then(), none; });
    in(op, 1, [&] { return otherwise(), none; });
  }

  /// Copies pure ops that do not depend on the position in x.
  void copy_what_is_the_same() {
    IdMap<ValueId, bool> differs(p_.values.size(), false);
    for (const auto* list : {&parts_.head, &parts_.body})
      for (const OpId op : *list) {
        const auto operands = p_.operands(op);
        const bool once =
            is_pure(p_.op(op).code) && !is_place(p_.op(op)) &&
            std::none_of(operands.begin(), operands.end(), [&](ValueId v) { return differs[v]; });
        if (once) same_.copy(op);
        for (const ValueId v : p_.results(op)) differs[v] = !once;
      }
  }
  bool is_done(OpId op) const {
    return is_place(p_.op(op)) || (p_.op(op).results.count && same_.map[p_.result(op)] != none);
  }

  /// A copier for the invocation of a workgroup.
  Cloner invocation_of(ValueId group, ValueId global) {
    Cloner c(p_, w_);
    c.map = same_.map;
    for (const auto* list : {&parts_.head, &parts_.body})
      for (const OpId op : *list)
        if (is_place(p_.op(op)))
          c.map[p_.result(op)] = p_.op(op).code == Opcode::GlobalId ? global : group;
    return c;
  }
  ValueId global_of(ValueId group) {
    return u32(Opcode::Add, u32(Opcode::Mul, group, number(p_.workgroup[0])), local_);
  }
  ValueId guard_of(const Cloner& c) {
    const ValueId g = c.map[parts_.guard];
    return parts_.unless ? w_.op(Opcode::Not, Type::Bool, {g}) : g;
  }

  /// Interleaves all invocations if all guards hold. Returns the condition for that; none
  /// without a guard.
  ValueId together() {
    std::vector<Cloner> all;
    const ValueId global = global_of(first_);
    all.push_back(invocation_of(first_, global));
    for (uint32_t k = 1; k < by_; ++k) {
      // Named in order: the evaluation order of arguments is unspecified.
      const ValueId id = u32(Opcode::Add, global, number(k * p_.workgroup[0]));
      const ValueId workgroup = u32(Opcode::Add, first_, number(k));
      all.push_back(invocation_of(workgroup, id));
    }
    const auto write = [&](const std::vector<OpId>& ops) {
      for (const OpId op : ops)
        if (!is_done(op))
          for (Cloner& c : all) c.copy(op);
    };
    write(parts_.head);
    if (parts_.guard == none) return write(parts_.body), none;
    ValueId holds = guard_of(all[0]);
    for (uint32_t k = 1; k < by_; ++k)
      holds = w_.op(Opcode::And, Type::Bool, {holds, guard_of(all[k])});
    branch(holds, [&] { write(parts_.body); }, [] {});
    return holds;
  }

  void one_by_one() {
    const ValueId range[] = {number(0), number(by_), number(1)};
    const OpId loop = w_.open(Opcode::For, range, 1);
    const ValueId k = out_.add_argument(out_.block(loop, 0), Type::U32);
    in(loop, 0, [&] {
      const ValueId group = u32(Opcode::Add, first_, k);
      branch(w_.op(Opcode::Lt, Type::U32, {group, n_}), [&] { one(group); }, [] {});
      return none;
    });
  }
  void one(ValueId group) {
    Cloner c = invocation_of(group, global_of(group));
    const auto write = [&](const std::vector<OpId>& ops) {
      for (const OpId op : ops)
        if (!is_done(op)) c.copy(op);
    };
    write(parts_.head);
    if (parts_.guard == none) return write(parts_.body);
    branch(guard_of(c), [&] { write(parts_.body); }, [] {});
  }

  const Program& p_;
  const Parts parts_;
  const uint32_t by_;
  Program out_;
  IrBuilder w_;
  Cloner same_;
  ValueId n_ = none, local_ = none, first_ = none;
};

}  // namespace

bool can_coarsen(const Program& p) { return find_parts(p).has_value(); }

uint32_t coarsening(const Program& p) {
  const std::optional<Parts> parts = find_parts(p);
  if (!parts) return 1;
  uint32_t ops = 0, largest = 0, least = bytes_under_way;
  bool writes = false;
  for (const auto* list : {&parts->head, &parts->body})
    for (const OpId op : *list) {
      const Op& o = p.op(op);
      ops += o.code == Opcode::Const ? 0 : is_function(o.code) ? ops_of_function : 1;
      if (is_pure(o.code)) continue;
      writes |= info(o.code).effect == Effect::Write;
      const uint32_t count = o.code == Opcode::LoadN    ? o.results.count
                             : o.code == Opcode::StoreN ? o.operands.count - 1
                                                        : 1;
      const Buffer& b = p.buffers[p.memory(op).buffer];
      if (!is_parameter(b.role)) continue;  // a table
      const uint32_t size = size_of(o.code == Opcode::LoadAs ? o.type : b.element);
      largest = std::max(largest, count * size);
      least = std::min(least, size);
    }
  if (!writes || ops > most_ops || least < least_element) return 1;
  return std::max(bytes_under_way / largest, 1u);
}

Program coarsen(const Program& p, uint32_t by) { return Coarsener(p, *find_parts(p), by).run(); }

}  // namespace vyre::plan
