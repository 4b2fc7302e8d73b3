#include "plan/fusion/fuse_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/check.h"
#include "opt/pipeline.h"
#include "plan/fusion/check_fusion.h"
#include "plan/fusion/fuse_handoff.h"
#include "plan/fusion/fusion_calls.h"
#include "plan/fusion/fusion_plan_parts.h"
#include "plan/fusion/join_programs.h"

namespace vyre::plan {
namespace {

/// Passes that clean up a fused kernel: comparisons and selects of lengths, values computed twice.
constexpr std::string_view cleaning =
    "fold_constants,simplify,number_values,forward_stores,remove_dead_stores,remove_dead_code,"
    "remove_dead_buffers";

class Fuser {
 public:
  Fuser(const Module& module, const Graph& graph, const GraphShape& shape, const FusionPlan& plan)
      : module_(module),
        g_(graph),
        shape_(shape),
        plan_(plan),
        calls_(module, graph, shape),
        call_of_(calls_.steps.size(), none) {
    for (uint32_t c = 0; c < calls_.calls.size(); ++c) call_of_[calls_.calls[c].node] = c;
  }

  FusedGraph run() {
    summaries_ = summarize_all(calls_);
    find_groups();
    out_.module.graphs.emplace_back();
    Graph& g = graph();
    g.name = g_.name;
    g.formulas = g_.formulas;
    g.place = g_.place;
    names_.insert(g_.name);
    for_each_call(g_.nodes,
                  [&](const GraphNode& n) { names_.insert(module_.kernels[n.kernel].name); });
    nodes_.emplace(g);
    for (uint32_t i = 0; i < calls_.steps.size(); ++i) add_step(i);
    drop_buffers();
    return std::move(out_);
  }

 private:
  Graph& graph() { return out_.module.graphs[0]; }

  void find_groups() {
    group_of_.assign(calls_.steps.size(), nullptr);
    for (const FusionGroup& group : plan_.groups)
      for (const uint32_t node : group.calls) group_of_[node] = &group;
  }

  void add(GraphNode node, FusedCall origin) {
    nodes_->add(std::move(node));
    out_.origin.push_back(std::move(origin));
  }

  void add_step(uint32_t i) {
    const GraphStep& step = calls_.steps[i];
    const GraphNode& node = *step.node;
    if (step.kind == GraphStep::Kind::Begin) return add(head_of(node), {});
    if (step.kind == GraphStep::Kind::End) {
      nodes_->close();
      out_.origin.push_back({});
      return;
    }
    const FusionGroup& group = *group_of_[i];
    if (group.calls.size() > 1 && group.calls[0] == i && add_joined(group)) joined_.insert(&group);
    if (joined_.contains(&group)) return;
    GraphNode copy = node;
    copy.kernel = kernel_of(node.kernel);
    add(std::move(copy), {{i}, may_trap(module_.kernels[node.kernel]) ? i : none});
  }

  static bool may_trap(const Program& p) {
    bool traps = false;
    walk(p, [&](OpId op) {
      traps |= p.op(op).code == Opcode::Trap || info(p.op(op).code).effect == Effect::Trap;
    });
    return traps;
  }

  uint32_t kernel_of(uint32_t old) {
    const auto [found, is_new] = kernels_.try_emplace(old, uint32_t(out_.module.kernels.size()));
    if (is_new) out_.module.kernels.push_back(module_.kernels[old]);
    return found->second;
  }

  // ---- Joined calls.

  const FusionCall& call(const FusionGroup& group, size_t i) const {
    return calls_.calls[call_of_[group.calls[i]]];
  }

  Part part(const FusionGroup& group, size_t i) const {
    const FusionCall& c = call(group, i);
    IdMap<BufferId, GraphBufferId> memory(c.memory.size());
    for (const BufferId b : memory.ids()) memory[b] = c.args[b].buffer;
    return make_part(*c.kernel, std::move(memory), uint32_t(i));
  }

  /// Returns the elided buffers of the group that a part of it has.
  static std::vector<GraphBufferId> gone_in(const std::vector<Part>& parts,
                                            const FusionGroup& group) {
    std::vector<GraphBufferId> gone;
    for (const GraphBufferId m : group.elided)
      if (std::any_of(parts.begin(), parts.end(), [&](const Part& p) {
            return std::find(p.memory.begin(), p.memory.end(), m) != p.memory.end();
          }))
        gone.push_back(m);
    return gone;
  }

  static Part join_open(std::vector<Part>& open, const std::vector<GraphBufferId>& gone) {
    if (open.size() == 1 && gone.empty()) return std::move(open[0]);
    return join_in_order(open, gone);
  }

  std::optional<JoinedProgram> join(const FusionGroup& group) const {
    std::vector<Part> open = {part(group, 0)};
    for (size_t i = 1; i < group.calls.size(); ++i) {
      Part next = part(group, i);
      const JoinKind kind = group.joins[i - 1];
      if (kind == JoinKind::Independent || kind == JoinKind::SameInvocation) {
        open.push_back(std::move(next));
        continue;
      }
      const GraphBufferId handed = handed_over(open, next, group);
      if (handed == none) return std::nullopt;
      std::vector<GraphBufferId> gone = gone_in(open, group);
      std::erase(gone, handed);
      Part before = join_open(open, gone);
      std::optional<Part> joined = kind == JoinKind::Recompute
                                       ? recompute(group, i, before, next, handed)
                                       : hand_over(before, next, handed);
      if (!joined) return std::nullopt;
      open.clear();
      open.push_back(std::move(*joined));
    }
    return finish(join_open(open, gone_in(open, group)));
  }

  GraphBufferId handed_over(const std::vector<Part>& open, const Part& next,
                            const FusionGroup& group) const {
    for (const GraphBufferId m : gone_in({next}, group))
      for (const Part& p : open)
        for (const BufferId b : p.memory.ids())
          if (p.memory[b] == m && is_writable(p.program.buffers[b].role)) return m;
    return none;
  }

  std::optional<Part> recompute(const FusionGroup& group, size_t i, const Part& before,
                                const Part& next, GraphBufferId handed) const {
    for (size_t k = i; k-- > 0;) {
      const uint32_t c = call_of_[group.calls[k]];
      for (const BufferUse& use : summaries_[c].uses)
        if (calls_.calls[c].memory[use.buffer] == handed && use.stores)
          return join_by_recomputing(before, next, handed, use.form.factors[0], use.form.rest.low);
    }
    return std::nullopt;
  }

  static uint32_t buffer_with(const Part& p, GraphBufferId memory) {
    return uint32_t(std::find(p.memory.begin(), p.memory.end(), memory) - p.memory.begin());
  }

  std::optional<Part> hand_over(const Part& before, const Part& next, GraphBufferId handed) const {
    JoinOutcome outcome = fuse_handoff(before.program, buffer_with(before, handed), next.program,
                                       buffer_with(next, handed));
    if (!outcome.joined) return std::nullopt;
    Part p;
    p.launch = next.launch;
    p.program = std::move(outcome.joined->program);
    size_t at = 0;
    for (const Buffer& b : p.program.buffers) {
      p.memory.push_back(none);
      p.origin.push_back({});
      if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
      const JoinedParameter& from = outcome.joined->parameters[at++];
      const Part& side = from.kernel == 0 ? before : next;
      JoinedParameter origin = from;
      origin.kernel = side.launch;
      if (from.kind == JoinedParameter::Kind::Buffer) {
        origin = side.origin[BufferId(from.index)];
        p.memory.back() = side.memory[BufferId(from.index)];
      } else if (from.kind == JoinedParameter::Kind::Count) {
        origin = side.origin[BufferId(from.index)];
        origin.kind = JoinedParameter::Kind::Count;
      }
      p.origin.back() = origin;
    }
    return p;
  }

  GraphArg argument(const FusionGroup& group, const JoinedParameter& p) const {
    const FusionCall& c = call(group, p.kernel);
    switch (p.kind) {
      case JoinedParameter::Kind::Buffer: return c.args[BufferId(p.index)];
      case JoinedParameter::Kind::NumWorkgroups: return {none, c.shape.num_workgroups[p.index]};
      case JoinedParameter::Kind::Count: return {none, c.shape.counts[p.index]};
    }
    return {};
  }

  /// Groups of the same kernels, bound alike, are one kernel: its code does not depend on which
  /// buffers they are.
  std::vector<uint64_t> key_of(const FusionGroup& group) const {
    std::vector<uint64_t> key;
    std::map<GraphBufferId, uint32_t> numbers;
    for (size_t i = 0; i < group.calls.size(); ++i) {
      key.push_back(calls_.steps[group.calls[i]].node->kernel);
      if (i > 0) key.push_back(uint64_t(group.joins[i - 1]));
      for (const GraphArg& a : call(group, i).args) {
        const GraphBufferId m = a.buffer;
        key.push_back(m == none ? none
                                : numbers.try_emplace(m, uint32_t(numbers.size())).first->second);
        key.push_back(std::binary_search(group.elided.begin(), group.elided.end(), m));
      }
      if (std::count(group.joins.begin(), group.joins.end(), JoinKind::Recompute) != 0)
        for (const BufferUse& use : summaries_[call_of_[group.calls[i]]].uses) {
          key.push_back(uint64_t(use.form.factors[0]));
          key.push_back(uint64_t(use.form.rest.low));
        }
    }
    return key;
  }

  struct Made {
    uint32_t kernel = none;  // none: it cannot be made
    std::vector<JoinedParameter> parameters;
  };

  const Made& make(const FusionGroup& group) {
    const auto [found, is_new] = made_.try_emplace(key_of(group));
    Made& made = found->second;
    if (!is_new) return made;
    std::optional<JoinedProgram> joined = join(group);
    if (!joined || has_errors(check(joined->program))) return made;
    clean(joined->program);
    made.parameters = std::move(joined->parameters);
    made.kernel = add_kernel(std::move(joined->program));
    return made;
  }

  /// False: the checker refuses the kernel, so the calls stay as they are.
  bool add_joined(const FusionGroup& group) {
    const Made& made = make(group);
    if (made.kernel == none) return false;
    GraphNode node;
    node.place = calls_.steps[group.calls[0]].node->place;
    node.kernel = made.kernel;
    for (const JoinedParameter& p : made.parameters) node.args.push_back(argument(group, p));
    FusedCall origin{group.calls, none};
    for (const uint32_t n : group.calls)
      if (summaries_[call_of_[n]].traps) origin.trapping = n;
    add(std::move(node), std::move(origin));
    return true;
  }

  static void clean(Program& program) {
    opt::OptimizeOptions options;
    auto passes = opt::parse_passes(cleaning);
    if (!passes) return;
    options.passes = std::move(*passes);
    Program cleaned = program;
    if (opt::optimize(cleaned, options) && !has_errors(check(cleaned)))
      program = std::move(cleaned);
  }

  uint32_t add_kernel(Program program) {
    const std::string base = program.name;
    for (uint32_t n = 2; !names_.insert(program.name).second; ++n)
      program.name = fmt::format("{}_{}", base, n);
    out_.module.kernels.push_back(std::move(program));
    return uint32_t(out_.module.kernels.size() - 1);
  }

  // ---- Removal of unused buffers.

  void drop_buffers() {
    IdMap<GraphBufferId, bool> used(g_.buffers.size(), false);
    for_each_node(graph().nodes, [&](const GraphNode& n) {
      for_each_buffer(n, [&](GraphBufferId b) { used[b] = true; });
    });
    IdMap<GraphBufferId, GraphBufferId> number(g_.buffers.size());
    for (const GraphBufferId b : g_.buffers.ids()) {
      if (!g_.buffers[b].parameter && !used[b]) continue;
      number[b] = graph().buffers.next_id();
      graph().buffers.push_back(g_.buffers[b]);
      out_.buffers.push_back(b);
      out_.shape.counts.push_back(shape_.counts[b]);
      out_.shape.scalars.push_back(shape_.scalars[b]);
    }
    for_each_node(graph().nodes, [&](GraphNode& n) {
      for_each_buffer(n, [&](GraphBufferId& b) { b = number[b]; });
    });
  }

  const Module& module_;
  const Graph& g_;
  const GraphShape& shape_;
  const FusionPlan& plan_;
  const FusionCalls calls_;
  std::vector<CallSummary> summaries_;
  std::vector<uint32_t> call_of_;       // by node
  std::optional<GraphAppender> nodes_;  // of the new graph
  std::vector<const FusionGroup*> group_of_;
  std::set<const FusionGroup*> joined_;
  std::set<std::string> names_;
  std::map<uint32_t, uint32_t> kernels_;
  std::map<std::vector<uint64_t>, Made> made_;
  FusedGraph out_;
};

}  // namespace

Result<FusedGraph> fuse_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                              const FusionPlan& plan, const FusionOptions& options) {
  if (auto checked = check_fusion(module, graph, shape, plan, options); !checked)
    return checked.errors();
  return Fuser(module, graph, shape, plan).run();
}

}  // namespace vyre::plan
