#include "differential/plan_subjects.h"

#include <fmt/format.h>

#include "check/check.h"
#include "generate/random.h"
#include "ir/graph_launch.h"
#include "plan/fusion/fusion_group.h"
#include "plan/fusion/fusion_plan_parts.h"

namespace vyre::lab {
namespace {

bool is_graph(const Generated& g) { return g.is_graph(); }

/// Translates "stage 2 (`a_b`): kernel `a_b` trapped …" to the names of the graph before fusion.
std::string trap_of_graph(const Generated& g, const plan::FusedGraph& fused,
                          const std::string& trap) {
  const GraphSteps steps = flatten(g.module.graphs[0]), of_fused = flatten(fused.graph());
  for (uint32_t i = 0; i < of_fused.size(); ++i) {
    if (fused.origin[i].calls.empty()) continue;
    const std::string& joined = fused.module.kernels[of_fused[i].node->kernel].name;
    const std::string head =
        fmt::format("stage {} (`{}`): kernel `{}`", of_fused[i].stage, joined, joined);
    if (!trap.starts_with(head)) continue;
    const uint32_t node = fused.origin[i].trapping;
    if (node == none) return "a call that cannot trap did: " + trap;
    const std::string& name = g.module.kernels[steps[node].node->kernel].name;
    return fmt::format("stage {} (`{}`): kernel `{}`", steps[node].stage, name, name) +
           trap.substr(head.size());
  }
  return trap;
}

Result<Outputs> run_planned(const Generated& g, bool random) {
  const auto shape = resolve_graph(g.module.graphs[0], g.inputs.data, g.inputs.lengths, 0);
  if (!shape) return shape.errors();
  const plan::FusionPlan plan = random ? random_fusion(g.module, g.module.graphs[0], *shape, g.seed)
                                       : plan::plan_fusion(g.module, g.module.graphs[0], *shape);
  return run_fused(g, *shape, plan);
}

}  // namespace

Result<Outputs> run_fused(const Generated& g, const GraphShape& shape, const plan::FusionPlan& plan,
                          const interp::Options& options) {
  const auto fused = plan::fuse_graph(g.module, g.module.graphs[0], shape, plan);
  if (!fused) return fused.errors();
  for (Diagnostic& d : check(fused->module))
    if (d.severity == Severity::Error) return std::move(d);
  Generated copy;
  copy.seed = g.seed;
  copy.limits = g.limits;
  copy.module = fused->module;
  for (const GraphBufferId b : fused->buffers) {
    copy.inputs.data.push_back(g.inputs.data[b.value()]);
    copy.inputs.lengths.push_back(g.inputs.lengths[b.value()]);
  }
  auto got = run_interpreter(copy.module, copy, options);
  if (!got) return got;
  if (!got->trap.empty()) {
    got->trap = trap_of_graph(g, *fused, got->trap);
    return got;
  }
  Outputs out;
  out.buffers.resize(g.module.graphs[0].buffers.size());
  for (const GraphBufferId i : fused->buffers.ids())
    out.buffers[fused->buffers[i].value()] = std::move(got->buffers[i.value()]);
  return out;
}

plan::FusionPlan random_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                               uint64_t seed) {
  Random coin(seed ^ 0x706c616e3a72616eull);
  const plan::FusionCalls calls(module, graph, shape);
  const auto summaries = plan::summarize_all(calls);
  const plan::FusionOptions options;
  plan::FusionGrowth growth(graph, calls, summaries, options);
  plan::FusionPlan plan;
  for (const plan::Stretch& stretch : calls.stretches)
    for (uint32_t at = stretch.first; at <= stretch.last;) {
      growth.begin(at, stretch);
      plan::FusionGroup group;
      const auto take = [&] {
        group.calls.clear();
        for (uint32_t c = at; c <= growth.last(); ++c) group.calls.push_back(calls.calls[c].node);
        group.joins = growth.joins();
        group.elided = growth.elided();
      };
      take();
      uint32_t last = at;
      std::string why;
      while (growth.last() < stretch.last && coin.chance(75)) {
        const auto kind = coin.pick(
            {plan::JoinKind::SameInvocation, plan::JoinKind::Recompute, plan::JoinKind::Handoff});
        if (!growth.extend(kind, why) && !growth.extend(why)) break;
        if (growth.uncleared() != none) continue;
        take();
        last = growth.last();
      }
      plan.avoided_launches += last - at;
      plan.groups.push_back(std::move(group));
      at = last + 1;
    }
  return plan;
}

std::vector<Subject> plan_subjects() {
  Subject fused, random;
  fused.name = "plan:fused";
  fused.run = [](const Generated& g) { return run_planned(g, false); };
  random.name = "plan:random";
  random.run = [](const Generated& g) { return run_planned(g, true); };
  fused.applies = random.applies = is_graph;
  return {std::move(fused), std::move(random)};
}

}  // namespace vyre::lab
