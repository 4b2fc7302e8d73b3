#pragma once

// Plans of graphs as something to compare: a graph and what a plan makes of it give the same bytes
// and traps.

#include "differential/differential.h"
#include "plan/graph_plan.h"
#include "runtime/device.h"

namespace vyre::lab {

/// `plan:fused` as planned, `plan:random` with some of the joins that are legal; on the
/// interpreter.
std::vector<Subject> plan_subjects();

/// `plan:random:<device>`: graphs by random_plan() through the device's own executor. Each is
/// prepared once and launched with the inputs, with garbage, and with the inputs again: what a
/// launch leaves in memory must not matter to the next.
Subject random_plan_subject(const std::string& device, uint32_t subgroup_size);

/// A plan that joins calls where a coin, thrown by the seed, says so and it is legal.
plan::FusionPlan random_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                               uint64_t seed);

/// Random joins, or the planner's, or none; and a random legal placement of what is left: other
/// alignments, slots and gaps than the planner's.
Result<plan::PlannedGraph> random_plan(const Module& module, const Graph& graph,
                                       const GraphShape& shape, uint64_t seed);

/// What the subject does, on a device that is open.
Result<Outputs> run_random_plan(driver::Device& device, const driver::CompileOptions& compile,
                                const Generated& g);

/// Runs a graph fused by the plan with the inputs of `g`; traps are told as the graph's.
Result<Outputs> run_fused(const Generated& g, const GraphShape& shape, const plan::FusionPlan& plan,
                          const interp::Options& options = {});

}  // namespace vyre::lab
