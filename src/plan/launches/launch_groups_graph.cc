// Launch groups of graphs: the stages and their layouts.

#include <algorithm>
#include <optional>

#include "opt/analysis/effects.h"
#include "plan/launches/launch_groups.h"
#include "support/hash.h"

namespace vyre::plan {

uint64_t layout_hash(const Program& program, const LaunchShape& shape) {
  Hasher hasher;
  for (const Buffer& b : program.buffers)
    if (is_parameter(b.role)) hasher.add_value(uint8_t{1}).add_value(b.role).add_value(b.element);
  hasher.add_value(uint8_t{0}).add_value(program.subgroup);
  for (const uint32_t x : program.workgroup) hasher.add_value(x);
  for (const uint64_t x : shape.invocations_wanted) hasher.add_value(x);
  for (const uint64_t x : shape.num_workgroups) hasher.add_value(x);
  return hasher.digest64();
}

namespace {

/// Binds a call. For a grid in device memory only the bound is known: the kernel's declared grid.
/// Without a bound, one invocation stands for it.
Result<GraphCall> bind(const Module& module, const Graph& graph, const GraphShape& shape,
                       const GraphNode& node) {
  const bool bounded = module.kernels[node.kernel].grid_dims != 0;
  const uint64_t wanted = bounded ? ~uint64_t{0} : 1;
  return bind_call(module, graph, shape, node, {wanted, wanted, wanted});
}

/// Bytes of the buffers of a call. A buffer that two parameters read counts once, and one that the
/// call reads and writes counts as output only.
LaunchStage measure(const GraphCall& call, const opt::EffectSummary& effects) {
  LaunchStage stage;
  const Program& k = call.kernel;
  stage.layout_hash = layout_hash(k, call.shape);
  std::vector<GraphBufferId> counted;
  for (const BufferId i : k.buffers.ids()) {
    const uint64_t bytes = call.shape.counts[i] * size_of(k.buffers[i].element);
    const Role role = k.buffers[i].role;
    if (role == Role::Scratch || role == Role::Shared) stage.scratch += bytes;
    if (call.bound[i] == none) continue;
    // An `out` argument is cleared before the call, so it is written in any case.
    if (role == Role::Out || effects.writes & bit_of(i)) {
      stage.output += bytes;
      continue;
    }
    if (!(effects.reads & bit_of(i))) continue;
    if (std::find(counted.begin(), counted.end(), call.bound[i]) != counted.end()) continue;
    counted.push_back(call.bound[i]);
    stage.input += bytes;
  }
  return stage;
}

}  // namespace

Result<std::vector<LaunchStage>> stages_of(const Module& module, const Graph& graph,
                                           const GraphShape& shape) {
  std::vector<LaunchStage> stages;
  std::vector<std::optional<opt::EffectSummary>> effects(module.kernels.size());
  bool behind_border = false;
  const GraphSteps steps = flatten(graph);
  for (uint32_t node = 0; node < steps.size(); ++node) {
    if (!steps[node].is_call()) {
      behind_border = true;
      continue;
    }
    const GraphNode& n = *steps[node].node;
    const Result<GraphCall> call = bind(module, graph, shape, n);
    if (!call) return blame_call(call.errors(), module, steps[node]);
    auto& of_kernel = effects[n.kernel];
    if (!of_kernel) of_kernel = opt::Effects(module.kernels[n.kernel]).of_program();
    LaunchStage stage = measure(*call, *of_kernel);
    stage.id = node;
    stage.needs_host = behind_border || !n.grid.empty();
    behind_border = false;
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace vyre::plan
