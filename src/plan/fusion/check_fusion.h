#pragma once

// Is a plan of fusion one that nobody can tell from the graph as it is written? A second opinion:
// it shares no code with the planner and has its own way to prove things.

#include "plan/fusion/fuse_graph.h"

namespace vyre::plan {

Result<> check_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                      const FusionPlan& plan, const FusionOptions& options = {});

}  // namespace vyre::plan
