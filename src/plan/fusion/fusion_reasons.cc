#include "plan/fusion/fusion_reasons.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::plan {

std::string stage_name(const FusionCalls& calls, uint32_t call) {
  return fmt::format("stage {} `{}`", call + 1, calls.calls[call].kernel->name);
}

std::string impurity(const Program& kernel) {
  for (const Buffer& b : kernel.buffers) {
    if (b.role == Role::Shared) return fmt::format("shared memory `{}`", b.name);
    if (b.role == Role::Scratch) return fmt::format("scratch buffer `{}`", b.name);
    if (b.role == Role::Private) return fmt::format("private array `{}`", b.name);
  }
  std::string found;
  walk(kernel, [&](OpId op) {
    if (!found.empty()) return;
    const Opcode code = kernel.op(op).code;
    const Effect effect = info(code).effect;
    if (effect == Effect::Sync)
      found = "a barrier";
    else if (effect == Effect::Trap || code == Opcode::Trap)
      found = "a trap";
    else if (effect == Effect::Atomic)
      found = "an atomic";
    else if (effect == Effect::Convergent || code == Opcode::LaneId || code == Opcode::SubgroupSize)
      found = fmt::format("subgroup operation `{}`", mnemonic(code));
    else if (code == Opcode::While)
      found = "a `while` loop";
  });
  return found;
}

namespace {

std::string why_reserved(const FusionCalls& calls, const Graph& graph, GraphBufferId buffer) {
  const std::string& name = graph.buffers[buffer].name;
  if (graph.buffers[buffer].parameter) return fmt::format("`{}` is a parameter of the graph", name);
  for (const GraphStep& step : calls.steps)
    if (info(step.node->kind).has_flag && step.node->flag.buffer == buffer)
      return fmt::format("`{}` controls a `while` loop of the graph", name);
  return fmt::format("a call reads its grid from `{}`", name);
}

}  // namespace

std::string why_live_after(const FusionCalls& calls, const Graph& graph, uint32_t call,
                           GraphBufferId buffer) {
  if (calls.reserved[buffer]) return why_reserved(calls, graph, buffer);
  if (!calls.is_live_after(call, buffer)) return "";
  const std::string& name = graph.buffers[buffer].name;
  for (uint32_t c = call + 1; c < calls.calls.size(); ++c) {
    const FusionCall& user = calls.calls[c];
    for (const BufferId b : user.memory.ids())
      if (user.memory[b] == buffer && user.kernel->buffers[b].role != Role::Out)
        return fmt::format("{} reads `{}` later", stage_name(calls, c), name);
  }
  return fmt::format("the next iteration of the loop reads `{}`", name);
}

std::string why_loop_border(const FusionCalls& calls, uint32_t call) {
  const GraphStep& next = calls.steps[calls.calls[call - 1].node + 1];
  if (next.is_call()) return "";
  if (next.kind == GraphStep::Kind::End)
    return fmt::format("a loop ends after {}", stage_name(calls, call - 1));
  return fmt::format("a `{}` loop begins before {}", info(next.node->kind).keyword,
                     stage_name(calls, call));
}

}  // namespace vyre::plan
