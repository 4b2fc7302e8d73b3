#pragma once

// Random programs with their inputs, to search for bugs with.
//
// Every program is legal (the checker accepts it), ends (all loops have small proved bounds), has
// no data race and no order-dependent result: it gives the same bytes under every schedule, on
// every backend, and, unless it observes its subgroup, at every subgroup size. It may trap; then
// code and invocation are the same everywhere, too.
//
// Which operations appear, with which operands and types, is read from the table of operations: a
// new row is generated without a change here (tests/fuzz/coverage_test.cc says if it is not).
//
// How races are avoided is told in kernel_writer.h.

#include <cstdint>

#include "ir/launch.h"
#include "ir/module.h"

namespace vyre::lab {

/// What a program may hold. A backend that lacks something can still be fuzzed with the rest.
struct GenerateOptions {
  bool graphs = true;         // several kernels and a graph over them, now and then
  bool only_graphs = false;   // every program is one
  bool subgroups = true;      // subgroup operations, lane_id, subgroup_size
  bool grid_barriers = true;  // barriers and uniform loads over the grid
  bool traps = true;          // trap and assert; a few of the programs do trap
};

/// What each run of a program may take.
struct RunLimits {
  double seconds = 20;    // nothing that is generated takes a tenth of it; what does is a finding
  uint64_t lane_ops = 0;  // on the interpreter (interp::Options::lane_op_limit)
};

struct Generated {
  uint64_t seed = 0;
  Module module;                   // one kernel, or several and one graph
  LaunchInputs inputs;             // by buffer of the kernel, or of the graph if there is one
  bool observes_subgroup = false;  // its results may depend on the subgroup size
  RunLimits limits;
  bool leaves_files = true;  // the program before a pass that broke it is kept

  bool is_graph() const { return !module.graphs.empty(); }
  /// The size of subgroups that all kernels fix, or 0.
  uint32_t fixed_subgroup() const;
};

/// The same seed and options give the same program and inputs, on every machine.
Generated generate(uint64_t seed, const GenerateOptions& options = {});

/// The same kernel with other numbers in its buffers; `number` says which. Scalars and lengths
/// stay.
Generated other_inputs(const Generated& g, uint64_t number);

/// Does the op make its program observe its subgroup?
bool observes_subgroup(Opcode code);
bool observes_subgroup(const Module& module);

}  // namespace vyre::lab
