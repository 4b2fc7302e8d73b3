#pragma once

// Puts `scratch` buffers that one phase of a workgroup writes for the next one into shared memory.
//
// A candidate has a constant length above zero and fits; and it is proved that
//   - every element that a workgroup reads, all of its invocations wrote before, on every path:
//     plain stores in flow that all of them go through, in one block with the loads (or in loops of
//     constant length there), together cover what the loads can reach;
//   - a workgroup barrier separates these stores from the first load, or one can be inserted. Later
//     stores and loads may follow in any order: what they touch stays in the tile;
//   - indices are the workgroup's own: they do not depend on workgroup_id, or all are
//     K · workgroup_id.x + r with the same K. Then only the tile of r is kept, and a buffer for the
//     whole launch shrinks to a tile;
//   - no atomics on it, and nothing by which workgroups could wait for each other: no grid barrier,
//     no acq_rel atomic. Then whatever else workgroups do to each other's elements is a race.
//
// And it pays: the target's cost table (device_costs.h) says what a workgroup saves and what it
// costs (handoff_profit.h). If the target has no cost table, everything that is proved is promoted.
//
// An index is rewritten to the index in the tile without the terms of the workgroup (tile_index.h).
//
// The budget is the target's shared memory less what the program uses, or 16 KiB a buffer if the
// target is not known. What saves the most traffic goes first. Buffers keep their numbers.

#include "opt/handoff_candidates.h"
#include "opt/pass.h"

namespace vyre::opt {

/// Bytes of one buffer if the target is not known.
inline constexpr uint64_t default_promotion_bytes = 16 * 1024;

/// What the pass would promote, in that order. Nothing else decides.
std::vector<HandoffCandidate> find_handoffs(const Program& program, PassContext& context);
Result<bool> promote_handoffs(Program& program, PassContext& context);

inline constexpr PassDescriptor promote_handoffs_pass = {
    .name = "promote_handoffs",
    .summary = "puts scratch buffers that stay in a workgroup into shared memory where it pays",
    .run = promote_handoffs,
    .phase = Phase::Memory,
    .family = CostFamily::Memory,
    .uses = {Fact::Ranges, Fact::Affine, Fact::Effects},
    .needs = capability(Capability::SharedMemory),
    .may_add = effect(EffectKind::Barrier),
};

}  // namespace vyre::opt
