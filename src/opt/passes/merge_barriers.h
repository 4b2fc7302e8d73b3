#pragma once

// Barrier elimination: removes barriers that separate no conflicting accesses.
//
// A barrier orders the accesses before it, back to the last barrier of at least its scope, against
// those after it, up to the next such one: a subgroup barrier in between does not replace a
// workgroup barrier. It is not needed if no access before it conflicts with one after it: the same
// buffer, visible to other invocations, at least one of the two a write. Barriers are removed one
// at a time, and the accesses on both sides of a removed one then count together: of A | B | C with
// A-B and B-C independent but A-C not, one barrier stays. A barrier next to one of the same or a
// larger scope orders nothing that the other does not.
//
// A uniform_load, acq_rel atomics, and ops that hold barriers or leave the block count as
// conflicts. Grid barriers stay where a trap could be before and after them: the first segment that
// traps is the one that is reported.
//
// Compares barriers of one block with accesses of the same block; only the kernel's body begins and
// ends with nothing around it. Runs in time linear in the number of ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> merge_barriers(Program& program, PassContext& context);

inline constexpr PassDescriptor merge_barriers_pass = {
    .name = "merge_barriers",
    .summary = "takes away barriers that separate nothing",
    .run = merge_barriers,
    .phase = Phase::Sync,
    .family = CostFamily::Sync,
    .uses = {Fact::Effects},
    .keeps_lines = false,
};

}  // namespace vyre::opt
