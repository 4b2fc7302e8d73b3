#pragma once

// Executes a plan with the reference interpreter: the same results as running the program unsplit.

#include "interp/interp.h"
#include "plan/split/split_grid.h"

namespace vyre::plan {

/// `plan` is the program's. Outputs are cleared once, before the first segment; time and memory
/// limits are for the whole. An error of a segment begins with "segment 2 of 4: ".
Result<interp::Outcome> run_split(const Program& program, const SplitPlan& plan,
                                  const LaunchInputs& inputs, const interp::Options& options = {});

}  // namespace vyre::plan
