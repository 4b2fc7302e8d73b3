#pragma once

// Thread coarsening, for large launches of small kernels: one invocation does the work of several.
//
// A kernel that loads, computes a little and stores is bound by the memory traffic in flight, and
// by the start rate of workgroups. One invocation that loads for four before it stores for four has
// four times as much traffic in flight, and there are four times fewer workgroups. (Copying 256 MiB
// on an H200: 199 µs one by one, 128 µs by four, the same as a float4 in CUDA C++.)
//
// The coarse program is a separate program. It means the same if it is launched with ceil(n / by)
// workgroups in x, or more, while `num_workgroups` stays the original n. Where all of its
// workgroups are inside the launch and all guards hold, the ops of its invocations are interleaved,
// so all loads come before the first store. Otherwise a loop runs one invocation after the other.
// Each invocation still executes its own ops in their order; the order between invocations is
// unspecified.

#include "ir/program.h"

namespace vyre::plan {

/// True if the program is straight code, possibly under one condition, without atomics, barriers,
/// subgroup ops, traps, loops and its own arrays. Others have no coarse form. Linear in the number
/// of ops.
bool can_coarsen(const Program& program);

/// The number of invocations that one should do the work of. 1 if the program has no coarse form,
/// writes nothing, has many ops, or moves many bytes per invocation already.
uint32_t coarsening(const Program& program);

/// The program for workgroups that each do the work of `by` neighbours in x. Linear in the number
/// of ops.
Program coarsen(const Program& program, uint32_t by);

}  // namespace vyre::plan
