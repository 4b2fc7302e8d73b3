#pragma once

// Shared by planning and applying plans.

#include <vector>

#include "plan/fusion/fusion_summary.h"

namespace vyre::plan {

/// Returns the summaries by call; those of calls that stay alone are empty.
std::vector<CallSummary> summarize_all(const FusionCalls& calls);

}  // namespace vyre::plan
