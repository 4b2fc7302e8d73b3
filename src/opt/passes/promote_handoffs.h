#pragma once

// Shared-memory promotion: puts `scratch` buffers that one phase of a workgroup writes for the next
// one into shared memory.
//
// A candidate has a constant length above zero and fits; and it is proved that
//   - every element that a workgroup reads, all of its invocations wrote before, on every path:
//     plain stores in flow that all of them go through, in one block with the loads (or in loops of
//     constant length there), together cover the elements that the loads can reach;
//   - a workgroup barrier separates these stores from the first load, or one can be inserted. Later
//     stores and loads may follow in any order: their accesses stay in the tile;
//   - indices belong to the workgroup: they do not depend on workgroup_id, or all are
//     K · workgroup_id.x + r with the same K. Then only the tile of r is kept, and a buffer for the
//     whole launch shrinks to a tile;
//   - it has no atomics, and the kernel has nothing by which workgroups could wait for each other:
//   no
//     grid barrier, no acq_rel atomic. Then any other access of workgroups to each other's elements
//     is a race.
//
// It must also pay: the target's cost table (device_costs.h) gives the saving and the cost for a
// workgroup (handoff_profit.h). If the target has no cost table, every proved candidate is
// promoted.
//
// An index is rewritten to the index in the tile without the terms of the workgroup (tile_index.h).
//
// The budget is the target's shared memory less the program's use, or 16 KiB per buffer if the
// target is not known. Buffers that save the most traffic come first. Buffers keep their numbers.

#include "opt/handoff_candidates.h"
#include "opt/pass.h"

namespace vyre::opt {

/// Bytes of one buffer if the target is not known.
inline constexpr uint64_t default_promotion_bytes = 16 * 1024;

/// Returns the buffers that the pass would promote, in that order. Nothing else decides.
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
