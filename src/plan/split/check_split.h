#pragma once

// Is a plan what it should be? Independent of how it was made: every segment is a legal program
// without a grid barrier, with the head of the original and the hidden buffers behind its own;
// steps are well nested and refer to things that are there; the host's nodes are ops that it can
// compute.

#include "plan/split/split_grid.h"

namespace vyre::plan {

Result<> check_split(const Program& program, const SplitPlan& plan);

}  // namespace vyre::plan
