#pragma once

// Chains of pieces: pieces that follow each other without a grid barrier in between run in one
// launch. Segments are the chains that can occur.

#include <optional>
#include <vector>

#include "plan/split/split_grid.h"

namespace vyre::plan {

/// Fills segments, chains and parameters of a plan from the programs of its pieces, which have a
/// scalar after the hidden buffers for each of their parameters. Runs in time linear in the ops of
/// the segments; their number is bounded by a multiple of the number of pieces. False: the segments
/// would have too many buffers.
bool join_pieces(const Program& program, std::vector<Program> pieces, SplitPlan& plan);

/// Whether the loop that begins at a step has a first iteration, where constants decide it.
std::optional<bool> first_test(const SplitPlan& plan, uint32_t loop_begin);

}  // namespace vyre::plan
