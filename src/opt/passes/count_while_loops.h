#pragma once

// Turns `while i < n { … i += 1 }` into `for i in i0..n { … }` (loop canonicalization).
//
// The number of iterations of a `for` is known when it begins, so compilers of devices unroll it,
// and emitters divide it into chunks that do not poll.
//
// The test must be `i < n` and nothing else, n must be defined outside of the loop, and each
// iteration must end with i + 1: then i is below n, and the sum does not wrap. With a second
// condition the `for` would have two exits, which costs more than it saves (H200, utf8 by Vulkan:
// 1.40 ms instead of 1.16). The test block may load but has no effects, because a `for` does not
// execute it once more when i reaches n. Loops with `continue`, barriers or subgroup operations
// stay as they are. Runs in time linear in the number of ops, times the depth of nested loops. Does
// nothing for devices on which it does not pay (DeviceCosts::counts_loops).

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> count_while_loops(Program& program, PassContext& context);

inline constexpr PassDescriptor count_while_loops_pass = {
    .name = "count_while_loops",
    .summary = "turns `while i < n` loops that count by 1 into `for` loops",
    .run = count_while_loops,
    .phase = Phase::Scalar,
    .family = CostFamily::Scalar,
};

}  // namespace vyre::opt
