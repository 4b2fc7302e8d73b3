#pragma once

// Checks a plan of scratch reuse: it must not change any result. Independent of how it was made.
//
// The planner looks backward for needed contents; this looks forward for preserved contents. It
// walks the arms in order, over all paths through the loops, and tracks for each buffer whether its
// bytes still hold the contents that the program put there. An arm that needs the contents of a
// buffer must find them.

#include "diagnostics/result.h"
#include "plan/memory/reuse.h"

namespace vyre::plan {

/// Returns all errors (V0881 to V0888), each one once.
Result<> check_reuse(const ReuseInput& input, const ReusePlan& plan);

}  // namespace vyre::plan
