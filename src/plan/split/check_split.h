#pragma once

// Checks a split plan, independently of how it was made. Every segment must be a legal program
// without a grid barrier, with the head of the original and the hidden buffers after those of the
// program. Steps must be well nested and refer only to existing entries. The host's nodes must be
// ops that it can compute.

#include "plan/split/split_grid.h"

namespace vyre::plan {

Result<> check_split(const Program& program, const SplitPlan& plan);

}  // namespace vyre::plan
