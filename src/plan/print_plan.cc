#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/graph_walk.h"
#include "plan/plan_file.h"
#include "support/bytes_text.h"

namespace vyre::plan {
namespace {

std::string plural(uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with('h') ? "es" : "s");
}

std::string_view describe(JoinKind kind) {
  switch (kind) {
    case JoinKind::Independent: return "side by side: they share nothing that is written";
    case JoinKind::SameInvocation: return "in the same invocation: what is handed over stays there";
    case JoinKind::Recompute: return "by computing the producer where it is read";
    case JoinKind::Handoff: return "through a tile in shared memory";
  }
  return "";
}

class Printer {
 public:
  Printer(const PlannedGraph& planned, const Module& module, const Graph& graph)
      : p_(planned), m_(module), g_(graph), steps_(flatten(graph)) {}

  std::string run() {
    const FusionPlan& f = p_.plan.fusion;
    const uint64_t calls = steps_.empty() ? 0 : steps_.back().stage;
    text_ = fmt::format("graph `{}`: {}, {}", g_.name, plural(calls, "call"),
                        plural(f.groups.size(), "launch"));
    if (f.avoided_launches > 0)
      text_ += fmt::format("; {} and {} of memory traffic avoided",
                           plural(f.avoided_launches, "launch"), bytes_text(f.avoided_bytes));
    if (steps_.size() != calls) text_ += "; each loop body counts once";
    text_ += '\n';
    print_nodes();
    print_memory();
    return std::move(text_);
  }

 private:
  std::string call(uint32_t node) const {
    return fmt::format("{} `{}`", steps_[node].stage, m_.kernels[steps_[node].node->kernel].name);
  }

  /// Loops in the order of the graph, with the launches in them.
  void print_nodes() {
    size_t group = 0;
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      const GraphStep& step = steps_[i];
      const std::string indent(2 * (step.depth + 1), ' ');
      switch (step.kind) {
        case GraphStep::Kind::Begin:
          text_ += fmt::format("{}{} {{\n", indent, info(step.node->kind).keyword);
          break;
        case GraphStep::Kind::End: text_ += indent + "}\n"; break;
        case GraphStep::Kind::Call:
          print_group(p_.plan.fusion.groups[group], indent);
          i = p_.plan.fusion.groups[group++].calls.back();
          break;
      }
    }
  }

  void print_group(const FusionGroup& group, const std::string& indent) {
    text_ += fmt::format("{}launch: stage {}\n", indent, call(group.calls[0]));
    for (size_t i = 1; i < group.calls.size(); ++i)
      text_ += fmt::format("{}  joined with stage {} {}\n", indent, call(group.calls[i]),
                           describe(group.joins[i - 1]));
    for (const GraphBufferId b : group.elided)
      text_ +=
          fmt::format("{}  `{}` ({}) never reaches device memory\n", indent, g_.buffers[b].name,
                      bytes_text(p_.plan.counts[b] * size_of(g_.buffers[b].element)));
    for (const FusionRefusal& r : p_.plan.fusion.refusals)
      if (r.call == group.calls[0])
        text_ += fmt::format("{}  not joined with the one before: {}\n", indent, r.why);
  }

  void print_memory() {
    const ReusePlan& r = p_.plan.reuse;
    const Graph& fused = p_.fused.graph();
    const IntermediateMemory memory = intermediate_memory(p_, g_);
    if (memory.unplanned == 0) return;
    text_ += fmt::format("memory of intermediates: {}, {} without the plan\n",
                         bytes_text(memory.planned), bytes_text(memory.unplanned));
    for (const GraphBufferId i : fused.buffers.ids()) {
      if (fused.buffers[i].parameter) continue;
      const uint64_t bytes = p_.fused.shape.bytes(fused, i);
      if (r.placement[i].slot == Placement::own)
        text_ += fmt::format("  `{}`: {} of its own\n", fused.buffers[i].name, bytes_text(bytes));
      else
        text_ += fmt::format("  `{}`: {} in slot {} at {}\n", fused.buffers[i].name,
                             bytes_text(bytes), r.placement[i].slot, r.placement[i].offset);
    }
    for (const auto& [arm, buffer] : r.clears)
      text_ +=
          fmt::format("  `{}` is cleared before launch {}\n", fused.buffers[buffer].name, arm + 1);
  }

  const PlannedGraph& p_;
  const Module& m_;
  const Graph& g_;
  const GraphSteps steps_;
  std::string text_;
};

}  // namespace

std::string print_plan(const PlannedGraph& planned, const Module& module, const Graph& graph) {
  return Printer(planned, module, graph).run();
}

}  // namespace vyre::plan
