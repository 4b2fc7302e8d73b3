#pragma once

// Launch fusion: calls of a graph that become one kernel.
//
// A plan is data: which calls are fused, and how. plan_fusion() makes it; check_fusion()
// (check_fusion.h, which shares no code with it) checks it; plan_file.h prints and stores it.
// fuse_graph() applies it, and returns a graph of fewer calls and fewer buffers that means the
// same. All execution of graphs, the interpreter included, uses that graph.
//
// Only calls that follow each other, in the same loop, are fused; and only if it is proved that the
// results are the same.

#include <string>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/module.h"
#include "opt/device_costs.h"
#include "plan/fusion/join.h"

namespace vyre::plan {

/// How a call joins those before it in its group.
enum class JoinKind : uint8_t {
  Independent,     // they share no written buffer: bodies one after the other
  SameInvocation,  // handed-over elements stay with the invocation: bodies one after the other
  Recompute,       // the producer is computed where the consumer loads, at the consumer's index
  Handoff          // a tile of the producer in shared memory (fuse_handoff.h)
};
std::string_view name(JoinKind kind);

struct FusionGroup {
  std::vector<uint32_t> calls;        // nodes of the graph, in order; one: not joined
  std::vector<JoinKind> joins;        // of each call but the first
  std::vector<GraphBufferId> elided;  // buffers that the joined kernel does not have; ascending.
                                      // The graph loses those that no other call uses
  uint64_t avoided_bytes = 0;  // of memory traffic, each time the group runs: fusion_traffic.h
};

/// Why a call does not join the one before it; for reports.
struct FusionRefusal {
  uint32_t call = 0;
  std::string why;
};

struct FusionPlan {
  std::vector<FusionGroup> groups;  // every call of the graph once, in order
  std::vector<FusionRefusal> refusals;
  uint64_t avoided_launches = 0, avoided_bytes = 0;  // sums over the groups: each loop body once
};

struct FusionOptions {
  uint64_t shared_bytes = 0;                // of a workgroup on the device; 0: unknown
  opt::DeviceCosts costs = opt::cpu_costs;  // decides whether fusion pays
  uint32_t most_calls = 32;                 // in a group
  /// The device omits clears of outputs that the optimizer proves unnecessary. Affects the report,
  /// not the plan.
  bool proves_full_writes = true;
};

/// Finds the cheapest legal plan by dynamic programming over each sequence of calls. Runs in time
/// linear in the number of calls times the limit of calls in a group.
FusionPlan plan_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                       const FusionOptions& options = {});

/// The original calls of a call of a fused graph.
struct FusedCall {
  std::vector<uint32_t> calls;  // nodes of the original graph
  uint32_t trapping = none;     // of them, the one that may trap (at most one may)
};

struct FusedGraph {
  Module module;     // kernels that are still called, the joined ones, and the one graph
  GraphShape shape;  // of the new graph
  std::vector<FusedCall> origin;                // by node of the new graph; empty for loops
  IdMap<GraphBufferId, GraphBufferId> buffers;  // of the new graph: that of the original
  const Graph& graph() const { return module.graphs[0]; }
};

/// Applies a plan. Parameters stay, and their order. Returns an error if the plan is not one for
/// this graph, with the code and words of check_fusion().
Result<FusedGraph> fuse_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                              const FusionPlan& plan, const FusionOptions& options = {});

}  // namespace vyre::plan
