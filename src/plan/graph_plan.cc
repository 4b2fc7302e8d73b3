#include "plan/graph_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/fusion/check_fusion.h"
#include "plan/fusion/fusion_traffic.h"
#include "plan/memory/check_reuse.h"
#include "wire/fingerprint.h"

namespace vyre::plan {
namespace {

/// A plan without fusion: each call is one group.
FusionPlan no_fusion(const Graph& graph) {
  FusionPlan plan;
  const GraphSteps steps = flatten(graph);
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].is_call()) plan.groups.push_back({{i}, {}, {}, 0});
  return plan;
}

/// A plan without reuse: each buffer has separate memory.
ReusePlan no_reuse(const ReuseInput& input) {
  ReusePlan plan;
  plan.placement.resize(input.buffers.size());
  return plan;
}

Result<FusedGraph> fuse(const Module& module, const Graph& graph, const GraphShape& shape,
                        const FusionPlan& plan, const FusionOptions& options) {
  if (Result<> proved = check_fusion(module, graph, shape, plan); !proved) return proved.errors();
  return fuse_graph(module, graph, shape, plan, options);
}

/// "64, 1" of buffers that differ, by name.
std::string lengths_of(const Graph& graph, const IdMap<GraphBufferId, uint64_t>& counts,
                       const IdMap<GraphBufferId, uint64_t>& others) {
  std::string text;
  for (const GraphBufferId i : graph.buffers.ids())
    if (counts.contains(i) && (!others.contains(i) || counts[i] != others[i]))
      text +=
          fmt::format("{}len({}) = {}", text.empty() ? "" : ", ", graph.buffers[i].name, counts[i]);
  return text;
}

}  // namespace

Result<PlannedGraph> plan_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                                const PlanOptions& options) {
  PlannedGraph planned;
  GraphPlan& plan = planned.plan;
  plan.graph = fingerprint(graph, module);
  plan.counts = shape.counts;
  plan.scalars = shape.scalars;
  plan.fusion = options.fuse ? plan_fusion(module, graph, shape, options.fusion) : no_fusion(graph);
  Result<FusedGraph> fused = fuse(module, graph, shape, plan.fusion, options.fusion);
  if (!fused) return fused.errors();
  planned.fused = std::move(*fused);
  planned.arms = reuse_input(planned.fused.module, planned.fused.graph(), planned.fused.shape);
  plan.reuse = options.reuse ? plan_reuse(planned.arms) : no_reuse(planned.arms);
  if (Result<> proved = check_reuse(planned.arms, plan.reuse); !proved) return proved.errors();
  return planned;
}

Result<PlannedGraph> apply_plan(const Module& module, const Graph& graph, const GraphShape& shape,
                                GraphPlan plan, const PlanOptions& options) {
  if (plan.graph != fingerprint(graph, module))
    return diagnose(Code::PlanOfOtherGraph, graph.place,
                    fmt::format("the plan is not one for graph `{}` as it is now", graph.name))
        .with_fix("make the plan again with `vyre plan`");
  if (plan.counts != shape.counts || plan.scalars != shape.scalars) {
    Diagnostic d = diagnose(Code::PlanOfOtherLengths, graph.place,
                            fmt::format("the plan for graph `{}` was made for other lengths or "
                                        "scalars",
                                        graph.name));
    if (const std::string now = lengths_of(graph, shape.counts, plan.counts); !now.empty())
      d.note(fmt::format("now {}", now))
          .note(fmt::format("the plan has {}", lengths_of(graph, plan.counts, shape.counts)));
    return d.with_fix("make the plan again with `vyre plan` and the same inputs");
  }
  PlannedGraph planned;
  Result<FusedGraph> fused = fuse(module, graph, shape, plan.fusion, options.fusion);
  if (!fused) return fused.errors();
  // The file's numbers of traffic are for its readers; the plan uses computed ones.
  count_avoided(module, graph, shape, options.fusion, plan.fusion);
  planned.fused = std::move(*fused);
  planned.arms = reuse_input(planned.fused.module, planned.fused.graph(), planned.fused.shape);
  if (Result<> proved = check_reuse(planned.arms, plan.reuse); !proved) return proved.errors();
  planned.plan = std::move(plan);
  return planned;
}

IntermediateMemory intermediate_memory(const PlannedGraph& planned, const Graph& graph) {
  IntermediateMemory memory;
  const GraphPlan& plan = planned.plan;
  for (const GraphBufferId i : graph.buffers.ids())
    if (!graph.buffers[i].parameter)
      memory.unplanned += allocated_bytes(plan.counts[i] * size_of(graph.buffers[i].element));
  const Graph& fused = planned.fused.graph();
  for (const uint64_t bytes : plan.reuse.slot_bytes) memory.planned += bytes;
  for (const GraphBufferId i : fused.buffers.ids())
    if (!fused.buffers[i].parameter && plan.reuse.placement[i].slot == Placement::own)
      memory.planned += allocated_bytes(planned.fused.shape.bytes(fused, i));
  return memory;
}

Diagnostics blame_fused(Diagnostics errors, const PlannedGraph& planned, const Module& module,
                        const Graph& graph, uint32_t node, bool trapped) {
  const FusedCall& call = planned.fused.origin[node];
  const GraphSteps steps = flatten(graph);
  if (call.calls.size() == 1) return blame_call(std::move(errors), module, steps[call.calls[0]]);
  // A fused kernel has a generated name, which its users do not know.
  const uint32_t culprit = trapped && call.trapping != none ? call.trapping : none;
  const GraphNode& fused = *flatten(planned.fused.graph())[node].node;
  const std::string joined = fmt::format("`{}`", planned.fused.module.kernels[fused.kernel].name);
  if (culprit != none) {
    const std::string own = fmt::format("`{}`", module.kernels[steps[culprit].node->kernel].name);
    for (Diagnostic& d : errors)
      if (const size_t at = d.message.find(joined); at != std::string::npos)
        d.message.replace(at, joined.size(), own);
    return blame_call(std::move(errors), module, steps[culprit]);
  }
  for (Diagnostic& d : errors) {
    d.message = fmt::format("stages {} to {}, fused: {}", steps[call.calls.front()].stage,
                            steps[call.calls.back()].stage, d.message);
    if (d.place.line == 0) d.place = steps[call.calls[0]].node->place;
  }
  return errors;
}

}  // namespace vyre::plan
