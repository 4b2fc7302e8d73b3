#pragma once

// Random programs with their inputs, to find bugs.
//
// Every program is legal (the checker accepts it), ends (all loops have small proved bounds), has
// no data race and no order-dependent result: it gives the same bytes under every schedule, on
// every backend, and, unless it observes its subgroup, at every subgroup size. It may trap; then
// code and invocation are the same everywhere, too.
//
// The operations, their operands and types come from the table of operations: a new row is
// generated without a change here (tests/fuzz/coverage_test.cc fails if it is not).
//
// kernel_writer.h describes how races are avoided.

#include <cstdint>

#include "ir/launch.h"
#include "ir/module.h"

namespace vyre::lab {

/// The features that a program may have. A backend that lacks some can still be fuzzed with the
/// others.
struct GenerateOptions {
  bool graphs = true;         // several kernels and a graph over them, occasionally
  bool only_graphs = false;   // every program is a graph
  bool subgroups = true;      // subgroup operations, lane_id, subgroup_size
  bool grid_barriers = true;  // barriers and uniform loads over the grid
  bool traps = true;          // trap and assert; a few of the programs do trap
};

/// The limits of each run of a program.
struct RunLimits {
  double seconds = 20;  // generated programs take less than a tenth of it; slower ones are findings
  uint64_t lane_ops = 0;  // on the interpreter (interp::Options::lane_op_limit)
};

struct Generated {
  uint64_t seed = 0;
  Module module;                   // one kernel, or several and one graph
  LaunchInputs inputs;             // by buffer of the kernel, or of the graph if there is one
  bool observes_subgroup = false;  // its results may depend on the subgroup size
  RunLimits limits;
  bool leaves_files = true;  // keep the program before a pass that broke it

  bool is_graph() const { return !module.graphs.empty(); }
  /// The subgroup size that all kernels fix, or 0.
  uint32_t fixed_subgroup() const;
};

/// The same seed and options give the same program and inputs, on every machine.
Generated generate(uint64_t seed, const GenerateOptions& options = {});

/// The same kernel with other values in its buffers, selected by `number`. Scalars and lengths
/// stay.
Generated other_inputs(const Generated& g, uint64_t number);

/// Returns whether the op makes its program observe its subgroup.
bool observes_subgroup(Opcode code);
bool observes_subgroup(const Module& module);

}  // namespace vyre::lab
