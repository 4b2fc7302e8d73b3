#pragma once

// Checks whether a program is legal. All later layers assume a checked program.
//
// The checks, in order: structure (check_structure.h); then, if the program is well-formed, limits
// (check_limits.h), buffers and types (check_types.h), uniformity and the placement of barriers
// (uniformity.h, placement.h), and order-dependent results (order.h). Graphs (check_graph.h) are
// checked against the kernels that they call. Runs in time linear in the size of the program,
// without recursion, for any bytes.

#include "diagnostics/diagnostic.h"
#include "ir/module.h"

namespace vyre {

struct CheckOptions {
  bool exact = false;         // --exact: f32 atomic_add and proved order dependence are errors
  double time_limit = 0;      // seconds; 0: none; less, or not a number: an error
  uint64_t memory_limit = 0;  // bytes, the program's own included; 0: none
};

/// Errors, warnings and notes in program order; the program is legal if has_errors() is false.
Diagnostics check(const Program& program, const CheckOptions& options = {});

/// All kernels, then all graphs.
Diagnostics check(const Module& module, const CheckOptions& options = {});

}  // namespace vyre
