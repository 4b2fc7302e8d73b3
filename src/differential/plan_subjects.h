#pragma once

// Plans of graphs as configurations: a graph and its planned form give the same bytes and traps.

#include "differential/differential.h"
#include "plan/graph_plan.h"
#include "runtime/device.h"

namespace vyre::lab {

/// `plan:fused` as planned, `plan:random` with some of the legal fusions; on the interpreter.
std::vector<Subject> plan_subjects();

/// `plan:random:<device>`: graphs by random_plan() through the device's executor. Each is prepared
/// once and launched with the inputs, with garbage, and with the inputs again: the memory contents
/// after a launch must not affect the next.
Subject random_plan_subject(const std::string& device, uint32_t subgroup_size);

/// A plan that fuses calls at random (by the seed) where it is legal.
plan::FusionPlan random_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                               uint64_t seed);

/// Random fusions, or the planner's, or none; and a random legal placement of the remaining
/// buffers: other alignments, slots and gaps than the planner's.
Result<plan::PlannedGraph> random_plan(const Module& module, const Graph& graph,
                                       const GraphShape& shape, uint64_t seed);

/// Runs the configuration on an open device.
Result<Outputs> run_random_plan(driver::Device& device, const driver::CompileOptions& compile,
                                const Generated& g);

/// Runs a graph fused by the plan with the inputs of `g`; traps are reported as the original
/// graph's.
Result<Outputs> run_fused(const Generated& g, const GraphShape& shape, const plan::FusionPlan& plan,
                          const interp::Options& options = {});

}  // namespace vyre::lab
