#pragma once

// The work of one invocation of a call, for cost estimates: operations, and memory accesses by how
// their index moves from one invocation to the next. Loops count by their number of iterations
// where the launch decides it.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace vyre::plan {

/// Loads or stores of one buffer with one lane slope (lane_slopes.h).
struct AccessWork {
  BufferId buffer{0};  // of the kernel
  bool stores = false;
  std::optional<double> slope;
  double times = 0;
};

struct CallWork {
  double operations = 0;         // of 32 bits and more, in additions
  double narrow_operations = 0;  // of 8 and 16 bits
  std::vector<AccessWork> accesses;
  double serial_loads = 0;  // loads that wait for each other: one for each block of ops that loads
  double barriers = 0;
  /// Atomics at data-dependent indices, each divided by the elements of its buffer: how often an
  /// invocation updates one element, on average.
  double contention = 0;
  bool straight = true;  // without loops, barriers, atomics and arrays

  void add_access(const AccessWork& access);
};

/// Cost of an operation that does not access memory, in additions of 32 bits. Expensive functions
/// cost as many as their expansion has.
double operation_weight(const Program& program, OpId op);

}  // namespace vyre::plan
