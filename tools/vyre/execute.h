#pragma once

// Runs a kernel or a graph on the reference interpreter, and compares results. device_run.h runs it
// on a device.

#include "interp/interp.h"
#include "tools/vyre/elements.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/target.h"

namespace vyre::cli {

struct RunResult {
  std::vector<Bytes> buffers;  // by buffer index; filled for what the host gets back
};

Result<RunResult> execute(const Target& target, const Launch& launch);

/// Nothing if both runs gave the same bytes; else the diagnostic that names the first element that
/// differs. `a` and `b` say what was different about the runs.
std::optional<Diagnostic> compare_results(const Target& target, const RunResult& first,
                                          const std::string& a, const RunResult& second,
                                          const std::string& b);

}  // namespace vyre::cli
