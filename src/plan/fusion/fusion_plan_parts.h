#pragma once

// What planning and applying plans share.

#include <vector>

#include "plan/fusion/fusion_summary.h"

namespace vyre::plan {

/// By call; of calls that stay alone nothing is said.
std::vector<CallSummary> summarize_all(const FusionCalls& calls);

}  // namespace vyre::plan
