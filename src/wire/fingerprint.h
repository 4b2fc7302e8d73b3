#pragma once

// A 128-bit hash of what a program does. Names (of the kernel, its buffers, its regions), locations
// and the numbering of ids do not affect it; everything that changes behaviour does: buffers'
// roles, order, elements and sizes, tables, workgroup, subgroup, grid, requirements, ops with their
// attributes and proofs, and the op_id, which identifies telemetry.
//
// Equal for a program, its compact()ed copy, and what decoding its encoding gives. The same on
// every machine and in every build; ops count by name, so reordering ops.def does not change it.
//
// Runs in linear time. Streams through a small buffer; in addition it takes four bytes per value.

#include "ir/module.h"
#include "support/hash.h"

namespace vyre {

Hash128 fingerprint(const Program& program);
/// The fingerprint of a graph of this module: kernels count by their behaviour.
Hash128 fingerprint(const Graph& graph, const Module& module);
Hash128 fingerprint(const Module& module);

/// Adds the canonical program to a larger hash (a cache key: target, options, …).
void add_program(Hasher& hasher, const Program& program);

}  // namespace vyre
