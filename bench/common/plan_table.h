#pragma once

// The graphs of bench/programs.txt with a plan and without one, as one table.

#include <string>

#include "programs.h"
#include "runtime/device.h"

namespace bench {

struct PlanTableOptions {
  ProgramSize size = ProgramSize::Full;
  int pairs = 15;      // interleaved runs with and without a plan; the least of each counts
  std::string filter;  // only graphs with this in their name
  double limit = 1.1;  // ratios above it are marked
};

/// Compares the results of every graph with and without a plan, times both, and prints a Markdown
/// table with the worst ratio first. Returns whether all graphs ran, no results differed and no
/// ratio was above the limit.
bool print_plan_table(const vyre::driver::Device& device, const PlanTableOptions& options);

}  // namespace bench
