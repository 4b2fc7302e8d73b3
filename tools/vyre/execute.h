#pragma once

// Runs a kernel or a graph on a backend. The one place of the command line that knows how.

#include "interp/interp.h"
#include "tools/vyre/elements.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/target.h"

namespace vyre::cli {

struct RunResult {
  std::vector<Bytes> buffers;  // by buffer index; filled for what the host gets back
  uint64_t lane_ops = 0;
};

Result<RunResult> execute(const Target& target, const Launch& launch);

/// Nothing if both runs gave the same bytes; else the diagnostic that names the first element that
/// differs. `a` and `b` say what was different about the runs.
std::optional<Diagnostic> compare_results(const Target& target, const RunResult& first,
                                          const std::string& a, const RunResult& second,
                                          const std::string& b);

}  // namespace vyre::cli
