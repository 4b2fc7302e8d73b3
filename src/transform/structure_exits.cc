#include "transform/structure_exits.h"

#include <bit>
#include <utility>

#include "ir/cloner.h"
#include "transform/returning_loop.h"

namespace vyre::plan {
namespace {

/// The effects of exits on an op that contains them.
enum Mark : uint8_t {
  returns = 1,      // a return inside must become a flag
  leaves_loop = 2,  // a break or continue of a split loop around the op
  has_break = 4     // a split loop that contains a break of itself
};

/// The loop around a barrier that is being made.
struct Loop {
  OpId from = none;
  std::vector<Type> types;    // of the program's carried values
  std::vector<ValueId> args;  // the copies of its arguments
  bool stops = false;         // it carries a flag: left by break, return, or a test that failed
  bool returns = false;       // it carries a flag: left by return
  bool test_in_body = false;
};

/// The state at the end of a block; a value that is `none` is false or zero.
struct Outcome {
  bool trapped = false;
  std::vector<ValueId> results;  // for the op that holds the block
  ValueId left = none;           // the rest of the block must be skipped
  ValueId returned = none;
  ValueId stopped = none;
  std::vector<ValueId> next;  // for the innermost split loop: its next carried values
};

/// The values that a block must yield.
struct Shape {
  std::vector<Type> results;
  bool left = false, returned = false, stopped = false, next = false;
};

class Structurer {
 public:
  Structurer(const Program& p, Scope scope)
      : p_(p),
        scope_(scope),
        splits_(find_split_ops(p, scope)),
        marks_(p.ops.size(), 0),
        to_(without_body(p)),
        w_(to_),
        copier_(p, w_) {}

  Program run() {
    mark_exits();
    const Outcome end = rest(p_.blocks[body_block].first, {});
    if (!end.trapped) w_.exit(Opcode::Return, {});
    compact(to_);
    return std::move(to_);
  }

 private:
  // ---- Which exits must become flags.

  void mark_exits() {
    std::vector<OpId> found;
    size_t last_cut = 0;
    walk(p_, [&](OpId op) {
      if (is_sync(p_, op, scope_)) last_cut = found.size();
      const Opcode code = p_.op(op).code;
      if (code == Opcode::Return || code == Opcode::Break || code == Opcode::Continue)
        found.push_back(op);
    });
    for (size_t i = 0; i < found.size(); ++i) {
      if (p_.op(found[i]).code == Opcode::Return)
        mark_return(found[i], i < last_cut);
      else
        mark_loop_exit(found[i]);
    }
  }

  OpId parent(OpId op) const { return p_.blocks[p_.op(op).parent].parent; }

  void mark_return(OpId op, bool before_a_cut) {
    bool matters = before_a_cut;
    for (OpId at = parent(op); at != none && !matters; at = parent(at)) matters = splits_[at];
    if (!matters) return;
    for (OpId at = parent(op); at != none && !(marks_[at] & returns); at = parent(at))
      marks_[at] |= returns;
  }

  void mark_loop_exit(OpId op) {
    OpId loop = parent(op);
    while (!is_loop(p_.op(loop).code)) loop = parent(loop);
    if (!splits_[loop]) return;
    if (p_.op(op).code == Opcode::Break) marks_[loop] |= has_break;
    for (OpId at = parent(op); at != loop && !(marks_[at] & leaves_loop); at = parent(at))
      marks_[at] |= leaves_loop;
  }

  // ---- Blocks.

  ValueId or_no(ValueId v) { return v == none ? w_.boolean(false) : v; }

  /// The values of an outcome in the order of a shape, made at the end of the current block.
  std::vector<ValueId> values_for(const Shape& shape, const Outcome& out) {
    std::vector<ValueId> list;
    for (size_t i = 0; i < shape.results.size(); ++i)
      list.push_back(i < out.results.size() ? out.results[i] : w_.constant(shape.results[i], 0));
    if (shape.left) list.push_back(or_no(out.left));
    if (shape.returned) list.push_back(or_no(out.returned));
    if (shape.stopped) list.push_back(or_no(out.stopped));
    if (shape.next)
      for (size_t i = 0; i < loop_->types.size(); ++i)
        list.push_back(i < out.next.size() ? out.next[i] : w_.constant(loop_->types[i], 0));
    return list;
  }

  std::vector<Type> types_for(const Shape& shape) const {
    std::vector<Type> types = shape.results;
    types.insert(types.end(), size_t{shape.left} + shape.returned + shape.stopped, Type::Bool);
    if (shape.next) types.insert(types.end(), loop_->types.begin(), loop_->types.end());
    return types;
  }

  Outcome outcome_from(const Shape& shape, std::span<const ValueId> values) const {
    Outcome out;
    size_t at = 0;
    for (; at < shape.results.size(); ++at) out.results.push_back(values[at]);
    if (shape.left) out.left = values[at++];
    if (shape.returned) out.returned = values[at++];
    if (shape.stopped) out.stopped = values[at++];
    if (shape.next) out.next.assign(values.begin() + static_cast<ptrdiff_t>(at), values.end());
    return out;
  }

  /// Fills a block of an op by `fill`, and ends it with a yield of the values that the shape
  /// requires.
  template <class Fill>
  void make_block(BlockId block, const Shape& shape, Fill&& fill) {
    const BlockId before = w_.block;
    w_.block = block;
    const Outcome out = fill();
    if (!out.trapped) w_.exit(Opcode::Yield, values_for(shape, out));
    w_.block = before;
  }

  /// Copies the ops from `at` to the end of their block. `shape`: the values that the block yields.
  Outcome rest(OpId at, const Shape& shape) {
    for (; at != none; at = p_.op(at).next) {
      w_.loc = p_.op(at).loc;
      if (is_exit(p_.op(at).code)) return exit(at, shape);
      if (!splits_[at] && marks_[at] == 0) {
        copier_.copy(at);
        continue;
      }
      const Outcome after = structured(at);
      if ((marks_[at] & (returns | leaves_loop)) == 0) continue;
      return skip_rest(at, after, shape);
    }
    return {};
  }

  /// Puts the ops after an op with exits into the else block of an `if`.
  Outcome skip_rest(OpId at, const Outcome& after, const Shape& shape) {
    const ValueId left = or_no(after.left);
    const OpId op = w_.open(Opcode::If, {&left, 1}, 2);
    make_block(to_.op(op).first_block, shape, [&] {
      Outcome out = after;
      out.results.clear();
      return out;
    });
    make_block(to_.op(op).first_block + 1, shape, [&] { return rest(p_.op(at).next, shape); });
    return outcome_from(shape, w_.set_results(op, types_for(shape)));
  }

  std::vector<ValueId> mapped(std::span<const ValueId> values) const {
    std::vector<ValueId> list;
    for (const ValueId v : values) list.push_back(copier_.map[v]);
    return list;
  }

  Outcome exit(OpId op, const Shape& shape) {
    Outcome out;
    const std::vector<ValueId> values = mapped(p_.operands(op));
    switch (p_.op(op).code) {
      case Opcode::Yield:
        (shape.next && !shape.left ? out.next : out.results) = values;  // a loop body or branch
        return out;
      case Opcode::Test: return test_in_body(values[0], shape);
      case Opcode::Break: out.stopped = w_.boolean(true); [[fallthrough]];
      case Opcode::Continue:
        out.next = values;
        out.left = w_.boolean(true);
        return out;
      case Opcode::Return:
        if (p_.op(op).parent == body_block) return out;  // the end of the body
        out.left = out.returned = out.stopped = w_.boolean(true);
        return out;
      default:
        w_.exit(Opcode::Trap, values);
        out.trapped = true;
        return out;
    }
  }

  // ---- Ops that hold barriers or are left.

  Outcome structured(OpId id) {
    switch (p_.op(id).code) {
      case Opcode::If:
      case Opcode::Region: return plain_control(id);
      default: return splits_[id] ? split_loop(id) : plain_loop(id);
    }
  }

  Outcome plain_loop(OpId id) {
    Outcome out;
    out.left = out.returned = out.stopped = copy_returning_loop(
        id, p_, w_, copier_, [this](OpId op) { return (marks_[op] & returns) != 0; });
    return out;
  }

  Shape shape_of(OpId id) const {
    Shape shape;
    for (const ValueId v : p_.results(id)) shape.results.push_back(p_.type(v));
    const uint8_t marks = marks_[id];
    shape.left = (marks & (returns | leaves_loop)) != 0;
    shape.returned = (marks & returns) != 0;
    shape.next = (marks & leaves_loop) != 0;
    shape.stopped = loop_ && loop_->stops && shape.left;
    return shape;
  }

  Outcome plain_control(OpId id) {
    const Op& o = p_.op(id);
    const Shape shape = shape_of(id);
    const OpId op = w_.open(o.code, mapped(p_.operands(id)), o.n_blocks, o.attr);
    for (uint32_t i = 0; i < o.n_blocks; ++i)
      make_block(to_.op(op).first_block + i, shape,
                 [&] { return rest(p_.blocks[o.first_block + i].first, shape); });
    Outcome out = outcome_from(shape, w_.set_results(op, types_for(shape)));
    for (uint32_t i = 0; i < o.results.count; ++i) copier_.map[p_.result(id, i)] = out.results[i];
    return out;
  }

  bool is_pure_block(BlockId block) const {
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next)
      if (!is_pure(p_.op(at).code) && p_.op(at).code != Opcode::Test) return false;
    return true;
  }

  /// A `for` or `while` around a barrier.
  Outcome split_loop(OpId id) {
    const Op& o = p_.op(id);
    const bool counts = o.code == Opcode::For;
    Loop loop;
    loop.from = id;
    loop.returns = (marks_[id] & returns) != 0;
    loop.test_in_body = !counts && !is_pure_block(o.first_block);
    loop.stops = loop.returns || (marks_[id] & has_break) || loop.test_in_body;
    for (const ValueId v : p_.results(id)) loop.types.push_back(p_.type(v));

    std::vector<ValueId> init = mapped(p_.operands(id));
    Counter counter;
    if (counts) {
      counter = count_trips(init[0], init[1], init[2]);
      init.erase(init.begin(), init.begin() + 2);
      init[0] = w_.constant(counter.type, 0);
    }
    const size_t flags = size_t{loop.stops} + loop.returns;
    for (size_t i = 0; i < flags; ++i) init.push_back(w_.boolean(false));
    std::vector<Type> types;
    for (const ValueId v : init) types.push_back(to_.type(v));

    const OpId op = w_.open(Opcode::While, init, 2);
    std::vector<ValueId> args;
    for (const Type t : types) args.push_back(to_.add_argument(to_.op(op).first_block, t));
    loop.args.assign(args.begin() + counts, args.end() - static_cast<ptrdiff_t>(flags));

    Loop* outer = std::exchange(loop_, &loop);
    const BlockId before = std::exchange(w_.block, to_.op(op).first_block);
    const auto old_args = p_.args(o.first_block);
    for (size_t i = 0; i < loop.args.size(); ++i) copier_.map[old_args[i + counts]] = loop.args[i];
    make_test(id, counter, args, loop);
    w_.block = to_.op(op).first_block + 1;
    make_body(id, counter, args, loop);
    w_.block = before;
    loop_ = outer;

    const std::vector<ValueId> results = w_.set_results(op, types);
    for (uint32_t i = 0; i < o.results.count; ++i)
      copier_.map[p_.result(id, i)] = results[i + counts];
    Outcome out;
    if (loop.returns) out.left = out.returned = out.stopped = results.back();
    return out;
  }

  /// A `for` by number of trips, which never wraps: i = lo + trip * step.
  struct Counter {
    Type type = Type::Void;  // unsigned, of the index's width
    ValueId lo = none, step = none, trips = none;
  };

  static Type unsigned_of(Type t) {
    constexpr Type by_size[] = {Type::U8, Type::U16, Type::U32, Type::U64};
    return by_size[std::countr_zero(size_of(t))];
  }

  Counter count_trips(ValueId lo, ValueId hi, ValueId step) {
    const Type t = to_.type(lo), u = unsigned_of(t);
    const auto as_unsigned = [&](ValueId v) { return t == u ? v : w_.op(Opcode::Cast, u, {v}); };
    const ValueId runs =
        w_.op(Opcode::And, Type::Bool,
              {w_.op(Opcode::Lt, t, {lo, hi}), w_.op(Opcode::Lt, t, {w_.constant(t, 0), step})});
    const ValueId span = w_.op(Opcode::Sub, u, {as_unsigned(hi), as_unsigned(lo)});
    const ValueId trips = w_.op(Opcode::CeilDiv, u, {span, as_unsigned(step)});
    return {u, lo, step, w_.op(Opcode::Select, u, {runs, trips, w_.constant(u, 0)})};
  }

  void make_test(OpId id, const Counter& counter, std::span<const ValueId> args, const Loop& loop) {
    ValueId goes_on = none;
    if (loop.stops) {
      const ValueId stopped = args[args.size() - 1 - loop.returns];
      goes_on = w_.op(Opcode::Not, Type::Bool, {stopped});
    }
    ValueId test = none;
    if (counter.trips != none) {
      test = w_.op(Opcode::Lt, counter.type, {args[0], counter.trips});
    } else if (!loop.test_in_body) {
      OpId at = p_.blocks[p_.op(id).first_block].first;
      for (; p_.op(at).code != Opcode::Test; at = p_.op(at).next) copier_.copy(at);
      test = copier_.map[p_.operand(at, 0)];
    }
    if (goes_on != none)
      test = test == none ? goes_on : w_.op(Opcode::And, Type::Bool, {goes_on, test});
    w_.exit(Opcode::Test, {&test, 1});
  }

  void make_body(OpId id, const Counter& counter, std::span<const ValueId> args, const Loop& loop) {
    const Op& o = p_.op(id);
    Shape shape;
    shape.next = true;
    shape.stopped = loop.stops;
    shape.returned = loop.returns;
    if (counter.trips != none) {
      const Type t = p_.type(p_.args(o.first_block)[0]);
      const ValueId trip = t == counter.type ? args[0] : w_.op(Opcode::Cast, t, {args[0]});
      copier_.map[p_.args(o.first_block)[0]] =
          w_.op(Opcode::Add, t, {counter.lo, w_.op(Opcode::Mul, t, {trip, counter.step})});
    }
    const bool has_own_body = counter.trips == none && !loop.test_in_body;
    const BlockId first = has_own_body ? o.first_block + 1 : o.first_block;
    const Outcome out = rest(p_.blocks[first].first, shape);
    if (out.trapped) return;
    // The order of carried values: counter, the program's values, stopped, returned.
    std::vector<ValueId> next;
    if (counter.trips != none)
      next.push_back(w_.op(Opcode::Add, counter.type, {args[0], w_.constant(counter.type, 1)}));
    for (size_t i = 0; i < loop.types.size(); ++i)
      next.push_back(i < out.next.size() ? out.next[i] : w_.constant(loop.types[i], 0));
    if (loop.stops) next.push_back(or_no(out.stopped));
    if (loop.returns) next.push_back(or_no(out.returned));
    w_.exit(Opcode::Yield, next);
  }

  /// The end of a test that was moved into the body: continue with the old body, or stop.
  Outcome test_in_body(ValueId condition, const Shape& shape) {
    const Loop& loop = *loop_;
    const OpId op = w_.open(Opcode::If, {&condition, 1}, 2);
    make_block(to_.op(op).first_block, shape,
               [&] { return rest(p_.blocks[p_.op(loop.from).first_block + 1].first, shape); });
    make_block(to_.op(op).first_block + 1, shape, [&] {
      Outcome out;
      out.next = loop.args;
      out.stopped = w_.boolean(true);
      return out;
    });
    return outcome_from(shape, w_.set_results(op, types_for(shape)));
  }

  const Program& p_;
  const Scope scope_;
  const IdMap<OpId, bool> splits_;
  IdMap<OpId, uint8_t> marks_;
  Program to_;
  IrBuilder w_;
  Cloner copier_;
  Loop* loop_ = nullptr;
};

}  // namespace

bool is_sync(const Program& p, OpId op, Scope scope) {
  const Op& o = p.op(op);
  if (o.code == Opcode::Barrier) return static_cast<Scope>(o.attr) == scope;
  return o.code == Opcode::UniformLoad && p.memory(op).scope == scope;
}

bool is_grid_sync(const Program& p, OpId op) { return is_sync(p, op, Scope::Grid); }

IdMap<OpId, bool> find_split_ops(const Program& p, Scope scope) {
  IdMap<OpId, bool> splits(p.ops.size(), false);
  walk(p, [&](OpId op) {
    if (!is_sync(p, op, scope)) return;
    for (OpId at = p.blocks[p.op(op).parent].parent; at != none && !splits[at];
         at = p.blocks[p.op(at).parent].parent)
      splits[at] = true;
  });
  return splits;
}

Program structure_exits(const Program& program, Scope scope) {
  return Structurer(program, scope).run();
}

}  // namespace vyre::plan
