#pragma once

// The memory traffic that a fusion plan avoids, counted on the calls as they were written. It is
// what the report says; what a plan costs is for the planner.
//
// A launch that loads from a buffer counts as all bytes of the buffer once, one that stores to it
// once more, and a clear of the buffer once more. The calls of a group would do that to the buffers
// that the fused kernel does not have. How often a fused kernel computes an element again, and what
// it loads for that, is not subtracted.

#include "plan/fusion/fuse_graph.h"

namespace vyre::plan {

/// Sets the avoided launches and bytes of the plan and of its groups. The plan is for this graph
/// and shape. Sums stop at the largest number. Runs in time linear in the calls of fused groups and
/// the sizes of their kernels.
void count_avoided(const Module& module, const Graph& graph, const GraphShape& shape,
                   const FusionOptions& options, FusionPlan& plan);

}  // namespace vyre::plan
