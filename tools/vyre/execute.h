#pragma once

// Runs a kernel or a graph on the reference interpreter, and compares results. device_run.h runs it
// on a device.

#include "interp/interp.h"
#include "tools/vyre/element_text.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/launch_flags.h"

namespace vyre::cli {

struct RunResult {
  std::vector<Bytes> buffers;  // by buffer index; filled for what the host gets back
};

Result<RunResult> execute(const Target& target, const Launch& launch);

/// The limits of a launch that other work uses up.
struct LimitsUsed {
  double seconds = 0;
  uint64_t bytes = 0;  // of buffers
};

/// Reduces the time and memory limits of the launch by the use of other work. Returns an error if
/// nothing is left.
Result<> reduce_limits(Launch& launch, const LimitsUsed& used);

/// Runs as `execute` does, within the limits that other runs leave.
Result<RunResult> execute_within(const Target& target, Launch launch, const LimitsUsed& used);

/// Returns nothing if both runs gave the same bytes; else the diagnostic that names the first
/// differing element. `a` and `b` describe the difference between the runs.
std::optional<Diagnostic> compare_results(const Target& target, const RunResult& first,
                                          const std::string& a, const RunResult& second,
                                          const std::string& b);

}  // namespace vyre::cli
