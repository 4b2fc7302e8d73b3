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

/// What other work uses of the limits of a launch.
struct LimitsUsed {
  double seconds = 0;
  uint64_t bytes = 0;  // of buffers
};

/// Leaves in the launch what other work does not use of its time and memory. An error if nothing is
/// left.
Result<> reduce_limits(Launch& launch, const LimitsUsed& used);

/// Runs as `execute` does, within what other runs leave of the limits.
Result<RunResult> execute_within(const Target& target, Launch launch, const LimitsUsed& used);

/// Nothing if both runs gave the same bytes; else the diagnostic that names the first element that
/// differs. `a` and `b` say what was different about the runs.
std::optional<Diagnostic> compare_results(const Target& target, const RunResult& first,
                                          const std::string& a, const RunResult& second,
                                          const std::string& b);

}  // namespace vyre::cli
