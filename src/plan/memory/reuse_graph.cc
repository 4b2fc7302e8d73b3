// Input of scratch reuse, made from a graph.

#include <algorithm>
#include <optional>

#include "ir/eval/eval.h"
#include "ir/graph_walk.h"
#include "opt/analysis/effects.h"
#include "plan/memory/reuse.h"

namespace vyre::plan {
namespace {

/// True if the loop runs at least once. A `while` may not run, and a formula that fails ends the
/// run.
bool surely_runs(const Graph& g, const GraphNode& node, const GraphShape& shape) {
  if (node.kind != GraphNodeKind::Repeat) return false;
  const FormulaEnv env{[&](uint32_t i) { return static_cast<__int128>(shape.counts[i]); },
                       [&](uint32_t i) -> __int128 {
                         const Type t = g.buffers[i].element;
                         if (!is_signed(t)) return shape.scalars[i];
                         const uint64_t in[] = {shape.scalars[i]};
                         return static_cast<int64_t>(eval_bits(Opcode::Cast, Type::I64, t, in, 1));
                       },
                       [&](uint32_t i) { return g.buffers[i].name; }};
  const Result<uint64_t> times = evaluate(g.formulas, node.count, env, "count");
  return times && *times > 0;
}

class Reader {
 public:
  Reader(const Module& module, const Graph& graph, const GraphShape& shape)
      : module_(module), g_(graph), shape_(shape), effects_(module.kernels.size()) {}

  ReuseInput run() {
    in_.buffers.resize(g_.buffers.size());
    for (const GraphBufferId b : g_.buffers.ids()) {
      if (g_.buffers[b].role != Role::Scalar) in_.buffers[b].bytes = shape_.bytes(g_, b);
      in_.buffers[b].host = g_.buffers[b].parameter;
    }
    const GraphSteps steps = flatten(g_);
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const GraphStep& step = steps[i];
      for_each_element(*step.node,
                       [&](const GraphElement& e) { in_.buffers[e.buffer].indirect = true; });
      if (step.is_call()) add_arm(i, *step.node);
      if (step.kind != GraphStep::Kind::End) continue;
      const uint32_t first = steps[step.partner].stage;
      if (step.stage > first)
        in_.loops.push_back({first, step.stage - 1, surely_runs(g_, *step.node, shape_)});
    }
    // Outer loops first.
    std::reverse(in_.loops.begin(), in_.loops.end());
    return std::move(in_);
  }

 private:
  void add_arm(uint32_t at, const GraphNode& node) {
    const Program& k = module_.kernels[node.kernel];
    auto& effects = effects_[node.kernel];
    if (!effects) effects = opt::Effects(k).of_program();
    Arm arm{at, k.name, {}};
    for (const CallArgument& a : arguments(k, node)) {
      if (a.is_scalar() || a.given->buffer == none) continue;
      const uint64_t bit = bit_of(a.index);
      ArmUse use;
      use.buffer = a.given->buffer;
      use.overwrites = a.parameter->role == Role::Out;
      use.reads = effects->reads & bit;
      use.writes = use.overwrites || (effects->writes & bit);
      use.atomics = effects->atomics & bit;
      merge(arm, use);
    }
    in_.arms.push_back(std::move(arm));
  }

  /// A buffer may be bound to several parameters that only read.
  static void merge(Arm& arm, const ArmUse& use) {
    for (ArmUse& known : arm.uses) {
      if (known.buffer != use.buffer) continue;
      known.reads |= use.reads;
      known.writes |= use.writes;
      known.atomics |= use.atomics;
      known.overwrites &= use.overwrites;
      return;
    }
    arm.uses.push_back(use);
  }

  const Module& module_;
  const Graph& g_;
  const GraphShape& shape_;
  std::vector<std::optional<opt::EffectSummary>> effects_;  // by kernel
  ReuseInput in_;
};

}  // namespace

ReuseInput reuse_input(const Module& module, const Graph& graph, const GraphShape& shape) {
  return Reader(module, graph, shape).run();
}

}  // namespace vyre::plan
