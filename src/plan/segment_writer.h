#pragma once

// Writes the segments and steps of a plan.

#include "plan/live_values.h"
#include "plan/split_facts.h"
#include "plan/split_grid.h"

namespace vyre::plan {

/// Fills segments, steps and the host's nodes of a plan whose hidden buffers are known. Segments
/// without an effect are left out.
void write_segments(const SplitFacts& facts, const LiveValues& live, SplitPlan& plan);

}  // namespace vyre::plan
