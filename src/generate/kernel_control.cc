// Blocks: conditions, loops and their exits.

#include <algorithm>

#include "generate/kernel_writer.h"

namespace vyre::lab {

/// Folds unused values of a scope into the result; otherwise they would be dead code.
void KernelWriter::end_scope() {
  const size_t begin = scopes_.back();
  scopes_.pop_back();
  if (b_.reachable())
    for (size_t i = begin, folded = 0; i < pool_.size() && folded < 4; ++i)
      if (!pool_[i].used && r_.chance(70)) fold(pool_[i].id), ++folded;
  pool_.resize(begin);
}

void KernelWriter::statements(uint64_t most) {
  for (uint64_t i = 0; i < most && !enough(); ++i) statement();
}

void KernelWriter::statement() {
  const bool deep = depth_ >= 4;
  if (subgroups_ && !last_part_ && r_.chance(12)) return subgroup_op();
  if (!loops_.empty() && r_.chance(8)) return exit_loop();
  switch (r_.below(deep ? 26 : 40)) {
    default: return pure_op();
    case 8: return pure_op(r_.pick({Level::Grid, Level::Workgroup, Level::Subgroup}));
    case 9: return id_op();
    case 10:
    case 11: return assign();
    case 12:
    case 13: return load();
    case 14: return load(r_.chance(50) ? Level::Workgroup : Level::Grid);
    case 15: return load_as();
    case 16:
    case 17:
    case 18: return store();
    case 19:
    case 20: return own_atomic();
    case 21: return gather_atomic();
    case 22:
    case 23: return r_.chance(50) ? store() : load();
    case 24:
    case 25: return trap();
    case 26:
    case 27:
    case 28: return if_();
    case 29:
    case 30: return for_();
    case 31: return while_();
    case 32: return region();
    case 33:
    case 34:
    case 35:
    case 36: return section();
    case 37: return uniform_load();
    case 38:
      return may_sync(Scope::Workgroup)
                 ? barrier(r_.pick({Scope::Subgroup, Scope::Workgroup, Scope::Grid}))
                 : pure_op();
    case 39: return return_();
  }
}

Level KernelWriter::after(Level flow) const {
  return std::min({flow, cap_, loops_.empty() ? Level::Grid : loops_.back().cap});
}

void KernelWriter::if_() {
  const Level outer = flow_;
  const bool uniform = flow_ >= Level::Workgroup && !last_part_ && r_.chance(50);
  const ValueId c = condition(uniform ? flow_ : Level::Varying);
  const auto arm = [&] {
    flow_ = after(std::min(outer, level_of(c)));
    begin_scope();
    statements(r_.between(1, 5));
    end_scope();
  };
  ++depth_;
  b_.begin_if(c);
  arm();
  if (r_.chance(50)) {
    b_.begin_else();
    arm();
  }
  b_.end_if();
  --depth_;
  flow_ = after(outer);
}

void KernelWriter::region() {
  constexpr std::string_view names[] = {"a", "inner part", "x\"y\\z", "é", ""};
  b_.begin_region(names[r_.below(std::size(names))]);
  ++depth_;
  begin_scope();
  statements(r_.between(1, 4));
  end_scope();
  --depth_;
  b_.end_region();
}

// ---- Loops.

/// The uniformity of a new loop: uniform ones can synchronize, any invocation can leave varying
/// ones.
Level KernelWriter::loop_level() {
  if (last_part_ || flow_ == Level::Varying) return Level::Varying;
  if (flow_ >= Level::Workgroup && sync_ && r_.chance(50))
    return r_.chance(60) ? flow_ : Level::Workgroup;
  return subgroups_ && r_.chance(40) ? Level::Subgroup : Level::Varying;
}

void KernelWriter::enter_loop(Level level, uint64_t trips) {
  loops_.push_back({level, Level::Grid, sections_.size()});
  flow_ = level;
  times_ *= std::max<uint64_t>(trips, 1);
  ++depth_;
}

void KernelWriter::leave_loop(Level outer, uint64_t trips) {
  loops_.pop_back();
  flow_ = after(outer);
  times_ /= std::max<uint64_t>(trips, 1);
  --depth_;
}

void KernelWriter::for_() {
  const Level outer = flow_, level = loop_level();
  const Type t = integer_type();
  const uint64_t top = low_mask(width_of(t) - (is_signed(t) ? 1 : 0));
  uint64_t trips = r_.between(1, 6);
  const uint64_t step = r_.between(1, 3);
  ValueId lo = none, hi = none, by = constant(t, step);
  switch (r_.below(6)) {
    case 0:  // up to the largest number, past which it must not wrap
      lo = constant(t, top - trips * step + r_.below(2));
      hi = constant(t, top);
      break;
    case 1:  // from below zero; from huge for unsigned types: nothing
      lo = constant(t, 0 - r_.between(1, trips * step));
      hi = constant(t, r_.below(2));
      trips += 1;
      break;
    case 2: {  // from below zero; for unsigned types from a huge number: no iterations
      const uint64_t bound = r_.between(18, 100);
      lo = constant(t, bound - trips * step);
      hi = emit(Opcode::Min, t, {value(t, level), constant(t, bound)});
      break;
    }
    case 3:  // no positive step: no iterations
      if (r_.chance(30)) {
        lo = small_value(t, 5, level);
        hi = constant(t, top);
        by = constant(t, is_signed(t) && r_.chance(50) ? 0 - step : 0);
        break;
      }
      [[fallthrough]];
    default:
      lo = r_.chance(60) ? constant(t, r_.below(3)) : small_value(t, 4, level);
      hi = small_value(t, trips * step + 1, level);
      break;
  }
  const Level counter = std::min({level_of(lo), level_of(by)});
  const ValueId i = b_.begin_for(lo, hi, by);
  set_level(i, counter);
  enter_loop(level, trips);
  begin_scope();
  know(i);
  statements(r_.between(2, 6));
  end_scope();
  b_.end_for();
  leave_loop(outer, trips);
}

/// A counter that goes down to 0, or up to a limit, bounds the loop, whatever else the test and the
/// body do.
void KernelWriter::while_() {
  const Level outer = flow_, level = loop_level();
  const Type t = integer_type();
  const uint64_t trips = r_.between(1, 6);
  const VarId counter = b_.declare(small_value(t, trips + 1, level));
  b_.begin_while();
  enter_loop(level, trips);
  begin_scope();
  const auto left = [&] {
    const ValueId v = b_.get(counter);
    set_level(v, level);
    return v;
  };
  if (r_.chance(50)) pure_op(level);
  const bool up = trips % 2 == 0;
  ValueId c = up ? emit(Opcode::Lt, t, {left(), constant(t, trips)})
                 : emit(Opcode::Ne, t, {left(), constant(t, 0)});
  if (r_.chance(40)) c = emit(Opcode::And, Type::Bool, {c, condition(level)});
  b_.begin_body(c);
  b_.set(counter, emit(up ? Opcode::Add : Opcode::Sub, t, {left(), constant(t, 1)}));
  statements(r_.between(2, 6));
  end_scope();
  b_.end_while();
  leave_loop(outer, trips);
}

// ---- Exits.

/// break or continue, under a condition that is uniform enough for the loop.
void KernelWriter::exit_loop() {
  if (loops_.empty() || loops_.back().sections != sections_.size() || flow_ < loops_.back().level)
    return;
  const Level level = loops_.back().level;
  const auto leave = [&](Level flow) {
    loops_.back().cap = std::min(loops_.back().cap, flow);
    if (r_.chance(50))
      b_.break_loop();
    else
      b_.continue_loop();
  };
  // Without a condition the rest of the block is unreachable, and the statements end. An
  // unreachable end is a trap.
  if (options_.traps && r_.chance(10)) return leave(flow_);
  const ValueId c = condition(level);
  b_.begin_if(c);
  if (r_.chance(40)) assign_in_exit(std::min(flow_, level_of(c)));
  leave(std::min(flow_, level_of(c)));
  b_.end_if();
  flow_ = after(flow_);
}

void KernelWriter::assign_in_exit(Level flow) {
  const Level outer = flow_;
  flow_ = flow;
  begin_scope();
  assign();
  end_scope();
  flow_ = outer;
}

void KernelWriter::return_() {
  Level least = last_part_ ? Level::Varying : Level::Workgroup;
  for (const Loop& l : loops_) least = std::max(least, l.level);
  for (const Level s : sections_) least = std::max(least, s);
  if (flow_ < least || !r_.chance(last_part_ ? 60 : 15)) return;
  const ValueId c = condition(least);
  b_.begin_if(c);
  if (memory_[result_].use == Use::Own && r_.chance(85)) store_result();
  b_.return_();
  b_.end_if();
  cap_ = std::min({cap_, flow_, level_of(c)});
  flow_ = after(flow_);
}

// ---- Traps.

bool KernelWriter::may_trap() const {
  const bool loops = std::all_of(loops_.begin(), loops_.end(),
                                 [](const Loop& l) { return l.level == Level::Varying; });
  return traps_ && !traps_closed_ && loops;
}

/// True for few invocations, or for none.
ValueId KernelWriter::rare_condition() {
  if (r_.chance(60)) return emit(Opcode::Eq, Type::U32, {linear_, u32(r_.below(total_ * 4))});
  const ValueId v = emit(Opcode::Rem, Type::U32, {value(Type::U32), u32(997)});
  return emit(Opcode::Eq, Type::U32, {v, u32(r_.below(997))});
}

void KernelWriter::trap() {
  if (!may_trap()) return;
  trapped_ = true;
  const ValueId c = rare_condition();
  const ValueId code = r_.chance(50) ? u32(r_.below(1000)) : value(Type::U32);
  if (r_.chance(50)) {
    emit(Opcode::Assert, Type::Void, {emit(Opcode::Not, Type::Bool, {c}), code});
    return;
  }
  b_.begin_if(c);
  b_.trap(code);
  b_.end_if();
}

}  // namespace vyre::lab
