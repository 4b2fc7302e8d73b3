#pragma once

// Takes away barriers that separate nothing.
//
// A barrier orders what stands before it, back to the barrier before, against what follows, up to
// the next one. It is not needed if no access before it conflicts with one after it: the same
// buffer, seen by others, at least one of the two a write. One barrier is taken at a time and the
// stretches on both sides are then one: of A | B | C with A-B and B-C independent but A-C not, one
// barrier stays. A barrier next to one of the same or a larger scope orders nothing that the other
// does not. uniform_load and acq_rel atomics are never crossed.
//
// Looks at barriers of one block whose neighbours stand in the same block (or are the kernel's own
// beginning and end); a loop's body wraps around, so its first and last stretch stay. Linear.

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
