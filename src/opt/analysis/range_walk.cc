#include "opt/analysis/range_walk.h"

#include <algorithm>
#include <bit>

namespace vyre::opt {

RangeWalk::RangeWalk(Ranges& ranges) : p_(*ranges.program_), out_(ranges) {
  const size_t values = p_.values.size();
  out_.by_value_.resize(values);
  for (const ValueId v : p_.values.ids()) out_.by_value_[v] = full_range(p_.type(v));
  out_.no_wrap_.assign(values, false);
  out_.position_.assign(p_.ops.size(), 0);
  now_ = merged_ = out_.by_value_;
  has_merged_.assign(values, false);
  continued_.assign(p_.ops.size(), false);
  carries_.assign(p_.ops.size(), false);
  top_narrowed_.assign(values, none);
  top_bound_.assign(values, none);
  uint32_t position = 0;
  std::vector<OpId> around;  // loops around the op
  walk_blocks(p_, body_block, [&](Visit what, OpId op, BlockId) {
    if (what == Visit::Op) {
      out_.position_[op] = position++;
      if (is_loop(p_.op(op).code) && p_.op(op).results.count)
        carries_[around.empty() ? op : around.front()] = true;
      return;
    }
    if (op == none || !is_loop(p_.op(op).code)) return;
    if (what == Visit::EnterBlock)
      around.push_back(op);
    else
      around.pop_back();
  });
}

void RangeWalk::run() {
  walk_from(body_block);
  out_.rounds_ = most_rounds_seen_;
}

void RangeWalk::walk_from(BlockId root) {
  walk_blocks(p_, root, [this](Visit what, OpId op, BlockId block) {
    switch (what) {
      case Visit::Op: visit(op); break;
      case Visit::EnterBlock: enter(block); break;
      case Visit::LeaveBlock: leave(block); break;
    }
  });
}

/// Finds the ranges of all values that the loop and the loops in it carry, by iterating over it
/// alone. Consecutive loops are settled one after the other, so their number does not count.
void RangeWalk::settle(OpId loop) {
  const Op& o = p_.op(loop);
  const uint32_t here = next_;
  const auto round = [&](Mode mode) {
    mode_ = mode;
    ++round_;
    next_ = here;
    for (const ValueId r : p_.results(loop)) has_merged_[r] = false;
    for (uint32_t b = 0; b < o.n_blocks; ++b) walk_from(o.first_block + b);
  };
  round_ = 0;
  do {
    changed_ = false;
    round(Mode::Grow);
  } while (changed_ && round_ < most_rounds);
  if (changed_) forget_carried(loop);
  round(Mode::Shrink);
  round(Mode::Shrink);
  most_rounds_seen_ = std::max(most_rounds_seen_, round_ + 1);
  mode_ = Mode::Record;
  next_ = here;
}

/// Gives carried values their full ranges, which is correct without any further iteration.
void RangeWalk::forget_carried(OpId loop) {
  const auto forget = [&](BlockId b) {
    for (const ValueId v : p_.args(b)) out_.by_value_[v] = full_range(p_.type(v));
  };
  for (uint32_t b = 0; b < p_.op(loop).n_blocks; ++b) {
    forget(p_.op(loop).first_block + b);
    walk(p_, p_.op(loop).first_block + b, [&](OpId op) {
      for (uint32_t i = 0; i < p_.op(op).n_blocks; ++i) forget(p_.op(op).first_block + i);
    });
  }
}

void RangeWalk::enter(BlockId block) {
  open_scope();
  const OpId owner = p_.blocks[block].parent;
  if (owner == none) return;
  const Op& o = p_.op(owner);
  const uint32_t which = block - o.first_block;
  switch (o.code) {
    case Opcode::If: assume(p_.operand(owner, 0), which == 0); break;
    case Opcode::For: enter_for(owner, block); break;
    case Opcode::While:
      if (which == 0) {
        loops_.push_back(owner);
        enter_carried(owner, block, 0, 0);
      } else {
        assume(p_.operand(p_.blocks[o.first_block].last, 0), true);
      }
      break;
    default: break;
  }
}

void RangeWalk::leave(BlockId block) {
  const OpId owner = p_.blocks[block].parent;
  if (owner == none) return close_scope();
  const Op& o = p_.op(owner);
  const bool last = block - o.first_block + 1 == o.n_blocks;
  // The body of a while sees the values of its test and the conditions that hold there.
  if (o.code == Opcode::While && !last) return;
  close_scope();
  if (o.code == Opcode::While) close_scope();
  if (!last) return;
  if (is_loop(o.code)) return finish_loop(owner);
  for (const ValueId r : p_.results(owner)) now_[r] = out_.by_value_[r] = merged(r);
  if (o.code != Opcode::If) return;
  // After an `if` of which one branch leaves, the other one was taken.
  const auto leaves = [&](uint32_t arm) {
    return p_.op(p_.blocks[o.first_block + arm].last).code != Opcode::Yield;
  };
  if (leaves(0) != leaves(1)) assume(p_.operand(owner, 0), leaves(1));
}

void RangeWalk::visit(OpId op) {
  ++next_;
  const Op& o = p_.op(op);
  if (is_control(o.code)) {
    if (is_loop(o.code) && loops_.empty() && carries_[op]) settle(op);
    for (const ValueId r : p_.results(op)) has_merged_[r] = false;
    return;
  }
  if (is_exit(o.code)) return exit(op);
  if (o.results.count) apply(op);
  if (o.code == Opcode::Assert) assume(p_.operand(op, 0), true);
}

void RangeWalk::apply(OpId op) {
  const Op& o = p_.op(op);
  ValueRange in[4];
  const uint32_t count = std::min<uint32_t>(o.operands.count, 4);
  for (uint32_t i = 0; i < count; ++i) in[i] = now_[p_.operand(op, i)];
  for (uint32_t i = 0; i < o.results.count; ++i) {
    const ValueId r = p_.result(op, i);
    const RangeRules::Result result = out_.rules_.apply(op, i, {in, count});
    now_[r] = out_.by_value_[r] = result.range;
    out_.no_wrap_[r] = result.no_wrap;
  }
}

void RangeWalk::exit(OpId op) {
  const Op& o = p_.op(op);
  const OpId owner = p_.blocks[o.parent].parent;
  if (owner == none) return;
  const auto give = [&](std::span<const ValueId> to) {
    for (uint32_t i = 0; i < to.size() && i < o.operands.count; ++i)
      merge(to[i], now_[p_.operand(op, i)]);
  };
  const auto arguments = [&](OpId loop) {
    return p_.args(p_.op(loop).first_block).subspan(p_.op(loop).code == Opcode::For ? 1 : 0);
  };
  switch (o.code) {
    case Opcode::Yield: {
      if (is_loop(p_.op(owner).code)) return give(arguments(owner));
      if (p_.op(owner).code == Opcode::If) {
        const ValueRange& c = now_[p_.operand(owner, 0)];
        // The condition's range outside: inside, the assumption of the branch narrows it.
        const ValueRange& outside = out_.by_value_[p_.operand(owner, 0)];
        const bool then = o.parent == p_.op(owner).first_block;
        if ((c.is_constant() && bool(c.lo) != then) ||
            (outside.is_constant() && bool(outside.lo) != then))
          return;
      }
      return give(p_.results(owner));
    }
    case Opcode::Continue:
      if (loops_.empty()) return;
      continued_[loops_.back()] = true;
      return give(arguments(loops_.back()));
    case Opcode::Break: return loops_.empty() ? void() : give(p_.results(loops_.back()));
    case Opcode::Test: {  // the results are the arguments, and the test failed
      const ValueRange c = now_[p_.operand(op, 0)];
      if (c.is_constant() && c.lo) return;
      open_scope();
      assume(p_.operand(op, 0), false);
      const auto from = arguments(owner), to = p_.results(owner);
      for (uint32_t i = 0; i < to.size() && i < from.size(); ++i) merge(to[i], now_[from[i]]);
      return close_scope();
    }
    default: return;  // return and trap
  }
}

void RangeWalk::merge(ValueId into, const ValueRange& r) {
  merged_[into] = has_merged_[into] ? join(p_.type(into), merged_[into], r) : r;
  has_merged_[into] = true;
}

ValueRange RangeWalk::merged(ValueId v) const {
  return has_merged_[v] ? merged_[v] : full_range(p_.type(v));
}

// ---- Loops.

void RangeWalk::enter_for(OpId op, BlockId body) {
  loops_.push_back(op);
  enter_carried(op, body, 3, 1);
  const ValueId counter = p_.args(body)[0];
  const auto operand = [&](uint32_t i) { return now_[p_.operand(op, i)]; };
  now_[counter] = out_.by_value_[counter] =
      out_.rules_.counter(p_.type(counter), operand(0), operand(1), operand(2));
  bound(counter, p_.operand(op, 1), true);
  // Where the body runs, lo < hi and the step is not 0.
  assume_comparison(Opcode::Lt, p_.operand(op, 0), p_.operand(op, 1));
  narrow(p_.operand(op, 2), 1, greatest(p_.type(counter)));
}

/// In the first iteration, a carried value has only the range of its initial value.
void RangeWalk::enter_carried(OpId op, BlockId block, uint32_t first_operand,
                              uint32_t first_argument) {
  const auto args = p_.args(block);
  for (uint32_t i = first_argument; i < args.size(); ++i) {
    const ValueId v = args[i];
    if (round_ == 1 && mode_ == Mode::Grow)
      out_.by_value_[v] = now_[p_.operand(op, first_operand + i - first_argument)];
    now_[v] = out_.by_value_[v];
    has_merged_[v] = false;
  }
}

void RangeWalk::finish_loop(OpId op) {
  loops_.pop_back();
  const Op& o = p_.op(op);
  const bool counts = o.code == Opcode::For;
  const uint32_t first_operand = counts ? 3 : 0, first_argument = counts ? 1 : 0;
  const auto args = p_.args(o.first_block);
  bool runs = false;  // at least once
  if (counts) {
    const ValueRange lo = now_[p_.operand(op, 0)], hi = now_[p_.operand(op, 1)],
                     step = now_[p_.operand(op, 2)];
    runs = lo.high() < hi.low() && step.low() > 0;
  }
  for (uint32_t i = 0; i < o.results.count; ++i) {
    const ValueId result = p_.result(op, i), argument = args[first_argument + i];
    const ValueId initial = p_.operand(op, first_operand + i);
    std::optional<ValueRange> bound;
    if (counts && mode_ != Mode::Grow && has_range(p_.type(argument))) bound = counted(op, i);
    if (counts) {  // a `for` ends with its last iteration's values, or its initial ones
      if (has_merged_[argument])
        merge(result,
              bound ? meet(p_.type(result), merged_[argument], *bound).value_or(merged_[argument])
                    : merged_[argument]);
      if (!runs) merge(result, now_[initial]);
    }
    if (mode_ != Mode::Record) update_argument(argument, initial, bound ? &*bound : nullptr);
    now_[result] = out_.by_value_[result] = merged(result);
  }
}

void RangeWalk::update_argument(ValueId v, ValueId initial, const ValueRange* bound) {
  const Type t = p_.type(v);
  if (!has_range(t)) return;
  ValueRange& old = out_.by_value_[v];
  ValueRange fresh = now_[initial];
  if (has_merged_[v]) fresh = join(t, fresh, merged_[v]);
  if (mode_ == Mode::Shrink) {
    if (bound) fresh = meet(t, fresh, *bound).value_or(fresh);
    old = meet(t, old, fresh).value_or(old);
    return;
  }
  const ValueRange grown = join(t, old, fresh);
  if (grown == old) return;
  changed_ = true;
  old = round_ >= rounds_before_jump ? jump(t, old, grown) : grown;
}

/// Widening: an end that moved jumps to 0 or to the type's end; only the low known bits are kept,
/// which steps of a power of two do not change. Later iterations keep nothing at all, so that a
/// long chain of loops, each waiting for the one before, does not take one iteration per loop.
ValueRange RangeWalk::jump(Type t, const ValueRange& old, const ValueRange& grown) const {
  if (round_ >= rounds_before_all) return full_range(t);
  Wide lo = grown.low(), hi = grown.high();
  if (lo < old.low()) lo = lo >= 0 ? Wide{0} : least(t);
  if (hi > old.high()) hi = greatest(t);
  const uint64_t low = low_mask(uint32_t(std::countr_one(grown.zeros | grown.ones)));
  return make_range(t, lo, hi, grown.zeros & low, grown.ones & low);
}

/// A bounded number of iterations, each adding a number between step.lo and step.hi: no partial sum
/// leaves the bounds, so no sum wraps.
std::optional<ValueRange> RangeWalk::counted(OpId loop, uint32_t carried) const {
  const ValueId argument = p_.args(p_.op(loop).first_block)[carried + 1];
  const Type t = p_.type(argument);
  // The yield at the body's end must be the only way back.
  const OpId end = p_.blocks[p_.op(loop).first_block].last;
  if (p_.op(end).code != Opcode::Yield || continued_[loop]) return std::nullopt;
  const std::optional<Step> step = step_of(p_.operand(end, carried), argument, 6);
  if (!step) return std::nullopt;
  const ValueRange &lo = now_[p_.operand(loop, 0)], &hi = now_[p_.operand(loop, 1)],
                   &by = now_[p_.operand(loop, 2)];
  const Wide length = hi.high() - lo.low(), each = std::max<Wide>(by.low(), 1);
  const Wide trips = length <= 0 ? Wide{0} : (length + each - 1) / each;
  const ValueRange& initial = now_[p_.operand(loop, carried + 3)];
  if (trips > (Wide{1} << 60)) return std::nullopt;
  Wide down = 0, up = 0;
  if (__builtin_mul_overflow(trips, std::min<Wide>(step->lo, 0), &down) ||
      __builtin_mul_overflow(trips, std::max<Wide>(step->hi, 0), &up))
    return std::nullopt;
  const Wide first = initial.low() + down, last = initial.high() + up;
  if (first < least(t) || last > greatest(t)) return std::nullopt;
  return make_range(t, first, last);
}

/// Returns v - argument in exact integers, if v is the argument plus other values. Valid as long as
/// no sum wraps, which the caller proves.
std::optional<RangeWalk::Step> RangeWalk::step_of(ValueId v, ValueId argument, int depth) const {
  if (v == argument) return Step{};
  const OpId def = p_.values[v].def;
  if (def == none || depth == 0) return std::nullopt;
  const Op& o = p_.op(def);
  const auto either = [](std::optional<Step> a, std::optional<Step> b) -> std::optional<Step> {
    if (!a || !b) return std::nullopt;
    return Step{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
  };
  switch (o.code) {
    case Opcode::Add:
      for (uint32_t i = 0; i < 2; ++i)
        if (const auto s = step_of(p_.operand(def, i), argument, depth - 1)) {
          const ValueRange& by = out_.by_value_[p_.operand(def, 1 - i)];
          return Step{s->lo + by.low(), s->hi + by.high()};
        }
      return std::nullopt;
    case Opcode::Sub:
      if (const auto s = step_of(p_.operand(def, 0), argument, depth - 1)) {
        const ValueRange& by = out_.by_value_[p_.operand(def, 1)];
        return Step{s->lo - by.high(), s->hi - by.low()};
      }
      return std::nullopt;
    case Opcode::Select:
      return either(step_of(p_.operand(def, 1), argument, depth - 1),
                    step_of(p_.operand(def, 2), argument, depth - 1));
    case Opcode::If: {
      std::optional<Step> all;
      for (uint32_t arm = 0; arm < 2; ++arm) {
        const OpId end = p_.blocks[o.first_block + arm].last;
        if (p_.op(end).code != Opcode::Yield) continue;  // it leaves
        const auto s = step_of(p_.operand(end, p_.values[v].index), argument, depth - 1);
        if (!s) return std::nullopt;
        all = all ? either(all, s) : s;
      }
      return all;
    }
    default: return std::nullopt;
  }
}

}  // namespace vyre::opt
