// Barriers, and the stop flag.
//
// Vulkan guarantees nothing for a barrier that some invocations never reach, and no progress of one
// subgroup while another one spins. So in programs with barriers or subgroup ops, no invocation
// returns alone. An invocation that has trapped continues as a ghost: it takes part in barriers and
// subgroup ops and follows the same path as the others wherever control flow is uniform. But it
// stores nothing, and contributes the identity to subgroup ops. A loop in uniform control flow is
// left by all invocations, or by none; a ghost leaves other loops at the next back-edge.
//
// The stop flag works the same way. Loops in control flow that is uniform over the workgroup are
// left by the whole workgroup, which then ends; those uniform over a subgroup by the subgroup;
// others by each invocation alone, which polls again at every later back-edge.
//
// In programs without barriers and subgroup ops, an invocation that traps or is stopped returns.

#include <cstddef>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

/// Acquire and release over all memory.
void Emitter::control_barrier(spv::Scope scope) {
  const Id s = scope_of(scope);
  const bool all = f_.orders_buffers || scope != spv::ScopeWorkgroup;
  eff(spv::OpControlBarrier, {s, s, semantics(spv::MemorySemanticsAcquireReleaseMask, all)});
}

void Emitter::barrier(Scope scope) {
  if (scope == Scope::Workgroup) return control_barrier(spv::ScopeWorkgroup);
  if (f_.lanes_by == Lanes::Alone) return;
  lanes_barrier();
}

/// A barrier, one load, a barrier. One invocation loads, for all of them.
void Emitter::uniform_load(OpId id) {
  const ValueId v = p_.result(id);
  const Type t = p_.type(v);
  const uint32_t n = width_of(t) == 64 ? 2 : 1;
  const Id array = shared_words("uniform", 2);
  const auto at = [&](uint32_t k) {
    // Named in order: the evaluation order of arguments is unspecified.
    const Id index = c32(k);
    const Id type = m_.type_pointer(spv::StorageClassWorkgroup, u32());
    return ins(spv::OpAccessChain, type, {array, index});
  };
  control_barrier(spv::ScopeWorkgroup);
  const Id first = ins(spv::OpIEqual, b(), {linear_id(), c32(0)});
  when(first, [&] {
    Place place = place_of(id);
    if (!p_.memory(id).in_bounds) place.inside = inside(place.buffer, p_.operand(id, 0), 0);
    const Id x = is_outside_always(place.inside) ? zero_of(t) : load_element(place, 0);
    if (n == 2) {
      const Id halves = ins(spv::OpBitcast, words(2), {x});
      for (uint32_t k = 0; k < 2; ++k) {
        const Id half = part(halves, k);
        store(at(k), half, Space::Shared, place.buffer, 0);
      }
      return;
    }
    const Id word = t == Type::Bool  ? ins(spv::OpSelect, u32(), {x, c32(1), c32(0)})
                    : t == Type::F32 ? bits_of(t, x)
                                     : x;
    store(at(0), word, Space::Shared, place.buffer, 0);
  });
  control_barrier(spv::ScopeWorkgroup);
  const Id low = load(at(0), u32(), Space::Shared, none, 0);
  if (n == 2) {
    const Id high = load(at(1), u32(), Space::Shared, none, 0);
    return set(v, ins(spv::OpBitcast, type_of(t), {pair(low, high)}));
  }
  set(v, t == Type::Bool ? ins(spv::OpINotEqual, b(), {low, c32(0)}) : from_bits(t, low));
}

// ---- Back-edges.

bool Emitter::checks_at_back_edge(OpId loop) const {
  const bool polls = lowered_.polls[loop] && options_.stoppable;
  if (!f_.has_ghosts) return polls;
  // Ghosts leave; a workgroup that consists only of ghosts leaves at a poll.
  return meeting_of(loop) != Meeting::Workgroup || lowered_.polls[loop];
}

/// The set of invocations that leaves the loop together.
Emitter::Meeting Emitter::meeting_of(OpId loop) const {
  if (!f_.syncs || !f_.uniformity) return Meeting::Alone;
  const Uniformity flow = f_.flow(p_.blocks[p_.op(loop).first_block].first);
  if (flow >= Uniformity::Workgroup) return Meeting::Workgroup;
  // Subgroups that are synchronized by workgroup barriers are so in workgroup-uniform control flow
  // (spirv_emit.cc). Other subgroups may have left this loop before, and no invocation in it waits
  // for another.
  const bool lanes =
      f_.has_subgroup_ops && f_.lanes_by != Lanes::Alone && f_.lanes_by != Lanes::Workgroup;
  return flow >= Uniformity::Subgroup && lanes ? Meeting::Subgroup : Meeting::Alone;
}

Id Emitter::counter(Meeting m) {
  Id& variable = counters_[static_cast<size_t>(m)];
  if (!variable) variable = function_variable(u32(), c32(back_edges_per_poll));
  return variable;
}

/// Counts a back-edge down, and calls `look` when the counter is used up.
Id Emitter::look_sometimes(Id counter, uint32_t weight, const std::function<Id()>& look) {
  const Id n = ins(spv::OpLoad, u32(), {counter});
  const Id left = ins(spv::OpISub, u32(), {n, c32(weight)});
  eff(spv::OpStore, {counter, left});
  return when_value(ins(spv::OpSLessThanEqual, b(), {left, c32(0)}), b(), [&] {
    eff(spv::OpStore, {counter, c32(back_edges_per_poll)});
    return look();
  });
}

Id Emitter::stop_pointer() {
  info_.uses_stop = true;
  return once({"stop"}, [&] { return pointer(param_wide(stop_offset), u32()); });
}

/// Returns a bool: the stop flag is set. If so, records the loop. Volatile: the flag changes during
/// the launch.
Id Emitter::stop_requested(OpId loop) {
  const Id order = c32(spv::MemorySemanticsVolatileMask);
  const Id scope = scope_of(spv::ScopeQueueFamily);
  const Id word = ins(spv::OpAtomicLoad, u32(), {stop_pointer(), scope, order});
  const Id stop = ins(spv::OpINotEqual, b(), {word, c32(0)});
  when(stop, [&] {
    const Id at = control_pointer(offsetof(ControlBlock, stopped_at), u32());
    eff(spv::OpAtomicStore, {at, scope, c32(0), c32(lowered_.original[loop].value() + 1)});
  });
  return stop;
}

/// A bool: leave the loop.
Id Emitter::check_back_edge(OpId loop) {
  switch (meeting_of(loop)) {
    case Meeting::Workgroup: return poll_together(loop);
    case Meeting::Subgroup: return poll_lanes(loop);
    default: return poll_alone(loop);
  }
}

Id Emitter::poll_alone(OpId loop) {
  Id leaves = 0;
  if (lowered_.polls[loop] && options_.stoppable) {
    const Id count = counter(Meeting::Alone);
    leaves = look_sometimes(count, lowered_.polls[loop], [&] {
      const Id stop = stop_requested(loop);
      // Where the invocation continues, all later back-edges poll again.
      if (f_.syncs) when(stop, [&] { eff(spv::OpStore, {count, c32(1)}); });
      return stop;
    });
  }
  if (!f_.has_ghosts) return leaves;
  const Id ghost = negated(alive());
  return leaves ? ins(spv::OpLogicalOr, b(), {leaves, ghost}) : ghost;
}

/// A subgroup leaves as one: if one of its lanes is stopped, or all are ghosts.
Id Emitter::poll_lanes(OpId loop) {
  Id leaves = 0;
  if (lowered_.polls[loop] && options_.stoppable) {
    const Id count = counter(Meeting::Subgroup);
    leaves = look_sometimes(count, lowered_.polls[loop], [&] {
      const Id stop = any_lane(stop_requested(loop));
      when(stop, [&] { eff(spv::OpStore, {count, c32(1)}); });
      return stop;
    });
  }
  if (!f_.has_ghosts) return leaves;
  const Id ghosts = negated(any_lane(alive()));
  return leaves ? ins(spv::OpLogicalOr, b(), {leaves, ghosts}) : ghosts;
}

/// The first invocation polls for all of them. With ghosts, each other invocation reports if it is
/// alive.
Id Emitter::poll_together(OpId loop) {
  return look_sometimes(counter(Meeting::Workgroup), lowered_.polls[loop], [&] {
    const Id array = shared_words("verdict", 2);
    const Id type = m_.type_pointer(spv::StorageClassWorkgroup, u32());
    const Id stop_at = ins(spv::OpAccessChain, type, {array, c32(0)});
    const Id alive_at = ins(spv::OpAccessChain, type, {array, c32(1)});
    control_barrier(spv::ScopeWorkgroup);
    when(ins(spv::OpIEqual, b(), {linear_id(), c32(0)}), [&] {
      const Id stop = options_.stoppable ? stop_requested(loop) : bit(false);
      const Id word = ins(spv::OpSelect, u32(), {stop, c32(1), c32(0)});
      store(stop_at, word, Space::Shared, none, 0);
      if (f_.has_ghosts) store(alive_at, c32(0), Space::Shared, none, 0);
    });
    control_barrier(spv::ScopeWorkgroup);
    if (f_.has_ghosts) {
      when(alive(), [&] {
        eff(spv::OpAtomicStore, {alive_at, scope_of(spv::ScopeWorkgroup), c32(0), c32(1)});
      });
      control_barrier(spv::ScopeWorkgroup);
    }
    const Id stop =
        ins(spv::OpINotEqual, b(), {load(stop_at, u32(), Space::Shared, none, 0), c32(0)});
    if (!f_.has_ghosts) return stop;
    const Id dead =
        ins(spv::OpIEqual, b(), {load(alive_at, u32(), Space::Shared, none, 0), c32(0)});
    return ins(spv::OpLogicalOr, b(), {stop, dead});
  });
}

Id Emitter::alive() {
  if (!f_.has_ghosts) return 0;
  if (!dead_) dead_ = function_variable(b(), bit(false));
  return negated(ins(spv::OpLoad, b(), {dead_}));
}

}  // namespace vyre::emit_spirv
