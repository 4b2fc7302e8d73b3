#pragma once

// Plans of graphs as something to compare: a graph and its fused form give the same bytes and
// traps.

#include "lab/differential.h"
#include "plan/fuse_graph.h"

namespace vyre::lab {

/// `plan:fused` as planned, `plan:random` with some of the joins that are legal; on the
/// interpreter.
std::vector<Subject> plan_subjects();

/// A plan that joins calls where a coin, thrown by the seed, says so and it is legal.
plan::FusionPlan random_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                               uint64_t seed);

/// Runs a graph fused by the plan with the inputs of `g`; traps are told as the graph's.
Result<Outputs> run_fused(const Generated& g, const GraphShape& shape, const plan::FusionPlan& plan,
                          const interp::Options& options = {});

}  // namespace vyre::lab
