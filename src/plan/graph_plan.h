#pragma once

// The plan of a whole graph: which calls are one kernel (fuse_graph.h), and which buffers share
// memory (reuse.h). One plan is for one graph and one set of lengths.
//
// A plan is data. plan_graph() makes one; plan_file.h writes and reads it; apply_plan() accepts one
// from any source and trusts none: a plan that its checkers cannot prove is not applied.

#include "plan/fusion/fuse_graph.h"
#include "plan/memory/reuse.h"
#include "support/hash.h"

namespace vyre::plan {

struct GraphPlan {
  Hash128 graph;                                 // fingerprint of the graph that it is for
  PublicIdMap<GraphBufferId, uint64_t> counts;   // elements
  PublicIdMap<GraphBufferId, uint64_t> scalars;  // bits
  FusionPlan fusion;
  ReusePlan reuse;  // by buffer and call of the graph after fusion
};

struct PlanOptions {
  bool fuse = true;
  bool reuse = true;
  FusionOptions fusion;
};

/// A plan, and the graph that results from it.
struct PlannedGraph {
  GraphPlan plan;
  FusedGraph fused;
  ReuseInput arms;  // of the fused graph: the input of the reuse plan
};

/// Plans a graph of the module that has passed the checker.
Result<PlannedGraph> plan_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                                const PlanOptions& options = {});

/// Applies a plan to a graph. Errors: the plan is for another graph (V0863) or for other lengths
/// (V0864), or a checker refuses it (V087x, V088x).
Result<PlannedGraph> apply_plan(const Module& module, const Graph& graph, const GraphShape& shape,
                                GraphPlan plan, const PlanOptions& options = {});

/// Bytes that are allocated for the intermediates of a graph, by the plan and with separate memory
/// for each intermediate of the graph as written.
struct IntermediateMemory {
  uint64_t planned = 0, unplanned = 0;
};
/// `graph`: the one that was planned.
IntermediateMemory intermediate_memory(const PlannedGraph& planned, const Graph& graph);

/// Attributes errors of a call of the fused graph to the calls of the graph as written. `trapped`:
/// they are of a trap.
Diagnostics blame_fused(Diagnostics errors, const PlannedGraph& planned, const Module& module,
                        const Graph& graph, uint32_t node, bool trapped);

}  // namespace vyre::plan
