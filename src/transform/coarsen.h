#pragma once

// Large launches of small kernels: one invocation does the work of several.
//
// A kernel that loads, computes a little and stores is bound by how much memory traffic is under
// way at once, and by how fast workgroups begin. One invocation that loads for four before it
// stores for four has four times as much under way, and there are four times fewer workgroups.
// (Copying 256 MiB on an H200: 199 µs one by one, 128 µs by four; what a float4 in CUDA C++ gets.)
//
// The coarse program is a program of its own: it means the same if it is launched with
// ceil(n / by) workgroups in x, or more, while `num_workgroups` stays what it was, n. Where all of
// its workgroups are inside the launch and all guards hold, ops stand next to each other, one for
// each invocation, so that all loads come before the first store; else a loop does one after the
// other. Each invocation still does its own ops in its own order, and others' never had one.

#include "ir/program.h"

namespace vyre::plan {

/// Is it straight code, perhaps behind one condition, without atomics, barriers, subgroups, traps,
/// loops and arrays of its own? Others have no coarse form. Linear.
bool can_coarsen(const Program& program);

/// How many invocations one should do the work of: 1 if the program has no coarse form, writes
/// nothing, has many ops or moves many bytes as it is.
uint32_t coarsening(const Program& program);

/// The program for workgroups that each do `by` neighbours in x. Linear.
Program coarsen(const Program& program, uint32_t by);

}  // namespace vyre::plan
