#pragma once

// Checks a fusion plan: the fused graph must be indistinguishable from the graph as it is written.
// The checker shares no code with the planner and proves its conditions by other methods.

#include "plan/fusion/fuse_graph.h"

namespace vyre::plan {

Result<> check_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                      const FusionPlan& plan, const FusionOptions& options = {});

}  // namespace vyre::plan
