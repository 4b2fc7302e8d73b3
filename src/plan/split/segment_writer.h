#pragma once

// Writes the pieces and steps of a plan.

#include "plan/split/live_values.h"
#include "plan/split/split_facts.h"
#include "plan/split/split_grid.h"

namespace vyre::plan {

/// Fills pieces, steps and the host's nodes of a plan whose hidden buffers are known, and returns
/// the programs of the pieces: each has a scalar after the hidden buffers for each of its
/// parameters. Pieces without an effect are left out.
std::vector<Program> write_pieces(const SplitFacts& facts, const LiveValues& live, SplitPlan& plan);

}  // namespace vyre::plan
