#pragma once

// Estimated time of a kernel, fused or not, from the work of its calls and a cost table. An
// estimate decides whether fusion pays; legality never depends on it.

#include <span>
#include <vector>

#include "opt/device_costs.h"
#include "plan/fusion/call_work.h"

namespace vyre::plan {

using opt::AccessPattern;
using opt::DeviceCosts;

/// One body in a kernel, and how the kernel's invocations execute it.
struct Phase {
  const Program* kernel = nullptr;
  const CallWork* work = nullptr;
  double invocations = 0;  // of a workgroup that execute it
  double times = 1;        // by each of them
  /// How many invocations of the body's own launch lie between two neighbours of this one: 1 if
  /// they are the same ones; none if they are anywhere.
  std::optional<double> lane_step = 1;
  double guard_operations = 0;  // before each execution
  uint64_t in_registers = 0;    // by buffer of the kernel: its accesses are gone
};

/// A kernel as it would be launched.
struct KernelEstimate {
  double workgroups = 0;
  double workgroup_invocations = 1;
  bool may_coarsen = false;  // the driver gives an invocation the work of several (coarsen.h)
  std::vector<Phase> phases;
  double bytes = 0;       // of device memory, read and written
  double tile_bytes = 0;  // of a tile that the workgroup fills for a later phase
};

/// Nanoseconds from the begin of the launch to the begin of the next.
double estimate_ns(const KernelEstimate& kernel, const DeviceCosts& costs);

}  // namespace vyre::plan
