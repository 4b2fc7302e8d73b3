#pragma once

// The memory traffic that a fusion plan avoids, counted on the calls as they were written. For the
// report; the planner estimates the cost of a plan.
//
// A launch that loads from a buffer counts as all bytes of the buffer once, one that stores to it
// once more, and a clear of the buffer once more. Counts these for each call of a group, for the
// buffers that the fused kernel does not have. Elements that a fused kernel computes again, and its
// loads for them, are not subtracted.

#include "plan/fusion/fuse_graph.h"

namespace vyre::plan {

/// Sets the avoided launches and bytes of the plan and of its groups. The plan is for this graph
/// and shape. Sums stop at the largest number. Runs in time linear in the calls of fused groups and
/// the sizes of their kernels.
void count_avoided(const Module& module, const Graph& graph, const GraphShape& shape,
                   const FusionOptions& options, FusionPlan& plan);

}  // namespace vyre::plan
