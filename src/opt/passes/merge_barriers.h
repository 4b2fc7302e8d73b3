#pragma once

// Takes away barriers that separate nothing.
//
// A barrier orders what stands before it, back to the last barrier of at least its scope, against
// what follows, up to the next such one: a subgroup barrier in between does not do the work of a
// workgroup barrier. It is not needed if no access before it conflicts with one after it: the same
// buffer, seen by others, at least one of the two a write. One barrier is taken at a time, and what
// it separated is then together: of A | B | C with A-B and B-C independent but A-C not, one barrier
// stays. A barrier next to one of the same or a larger scope orders nothing that the other does
// not.
//
// Never crossed: uniform_load, acq_rel atomics, and whatever holds barriers or leaves the block.
// Grid barriers stay where a trap could be before and after them: the first segment that traps is
// the one that is reported.
//
// Looks at barriers of one block against what stands in the same block; only the kernel's own body
// begins and ends with nothing around it. Linear.

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
