#pragma once

// Loop-invariant code motion (LICM): moves ops out of loops in which they have the same value in
// every iteration.
//
// Pure ops are total and have no effect, so computing one that a loop without iterations would not
// have computed changes nothing. A load moves only if nothing in the loop may change its buffer and
// it is executed at least once anyway, before anything that leaves the iteration: a loop that runs
// no iteration must not read. An op moves out of as many loops as its operands allow. A load loses
// its `in_bounds`: the proof may have depended on the loop around it.
//
// Does not move ops under an `if` in the loop: they may be rare and expensive. Runs in time linear
// in the number of ops, times the depth of loops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> hoist_invariants(Program& program, PassContext& context);

inline constexpr PassDescriptor hoist_invariants_pass = {
    .name = "hoist_invariants",
    .summary = "moves out of loops what is the same in every iteration",
    .run = hoist_invariants,
    .phase = Phase::Loop,
    .family = CostFamily::Loop,
    .uses = {Fact::Effects},
};

}  // namespace vyre::opt
