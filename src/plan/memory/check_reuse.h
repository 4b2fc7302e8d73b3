#pragma once

// Is a plan of scratch reuse one that nobody can notice? Independent of how it was made.
//
// The planner looks backward for what is needed; this looks forward for what is there. It walks the
// arms in order, over all ways through the loops, and knows of each buffer whether its bytes still
// hold what the program put there. An arm that needs the contents of a buffer must find them.

#include "diagnostics/result.h"
#include "plan/memory/reuse.h"

namespace vyre::plan {

/// All that is wrong (V0881 to V0888), each thing once.
Result<> check_reuse(const ReuseInput& input, const ReusePlan& plan);

}  // namespace vyre::plan
