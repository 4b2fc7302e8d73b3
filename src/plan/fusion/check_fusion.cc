#include "plan/fusion/check_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/fusion/check_fusion_access.h"
#include "plan/fusion/fuse_handoff.h"

namespace vyre::plan {
namespace {

/// A call as the checker sees it.
struct Member {
  uint32_t node = 0;
  const Program* kernel = nullptr;
  IdMap<BufferId, GraphBufferId> bound;  // the graph's buffer, or none
  IdMap<BufferId, uint64_t> scalars;
  LaunchShape shape;
  bool traps = false, loops_freely = false, only_computes = true, waits_for_grid = false;
  bool observes_subgroup = false;
  const std::vector<SeenAccess>* accesses = nullptr;

  uint64_t invocations(int d) const { return shape.num_workgroups[d] * kernel->workgroup[d]; }
};

class Checker {
 public:
  Checker(const Module& module, const Graph& graph, const GraphShape& shape, const FusionPlan& plan,
          const FusionOptions& options)
      : module_(module),
        g_(graph),
        steps_(flatten(graph)),
        shape_(shape),
        plan_(plan),
        options_(options) {}

  Result<> run() {
    if (check_cover())
      for (const FusionGroup& group : plan_.groups)
        if (group.calls.size() > 1) check_group(group);
    if (errors_.empty()) return Ok{};
    return errors_;
  }

 private:
  bool wrong(Code code, uint32_t node, std::string message) {
    const Place place = node < steps_.size() ? steps_[node].place() : g_.place;
    errors_.push_back(
        diagnose(code, place, fmt::format("fusion of graph `{}`: {}", g_.name, message))
            .with_fix("plan again"));
    return false;
  }

  // ---- Structure of the plan.

  bool check_cover() {
    uint32_t at = 0;
    const auto next_call = [&] {
      while (at < steps_.size() && !steps_[at].is_call()) ++at;
      return at;
    };
    for (const FusionGroup& group : plan_.groups) {
      if (group.calls.empty()) return wrong(Code::FusionPlanBroken, none, "a group has no calls");
      if (group.joins.size() + 1 != group.calls.size())
        return wrong(Code::FusionPlanBroken, none, "a group says not how each of its calls joins");
      for (size_t i = 0; i < group.calls.size(); ++i) {
        const uint32_t node = group.calls[i];
        if (node >= steps_.size() || !steps_[node].is_call())
          return wrong(Code::FusionPlanBroken, none, fmt::format("node {} is no call", node));
        if (node != next_call())
          return wrong(Code::FusionPlanBroken, node,
                       "the calls are not all there, once and in order");
        if (i > 0 && group.calls[i - 1] + 1 != node)
          return wrong(Code::FusionAcrossLoop, node, "a loop begins or ends inside of a group");
        if (i > 0 && group.joins[i - 1] > JoinKind::Handoff)
          return wrong(Code::FusionPlanBroken, node, "there is no such way to join");
        ++at;
      }
      if (group.calls.size() > std::max(1u, options_.most_calls))
        return wrong(Code::FusionTooLarge, group.calls[0],
                     fmt::format("a group has {} calls; the limit is {}", group.calls.size(),
                                 options_.most_calls));
      if (!check_elided_list(group)) return false;
    }
    if (next_call() != steps_.size())
      return wrong(Code::FusionPlanBroken, at, "the calls are not all there, once and in order");
    return true;
  }

  bool check_elided_list(const FusionGroup& group) {
    for (size_t i = 0; i < group.elided.size(); ++i) {
      const GraphBufferId b = group.elided[i];
      if (!g_.buffers.contains(b) || (i > 0 && group.elided[i - 1] >= b))
        return wrong(Code::FusionPlanBroken, group.calls[0],
                     "the list of elided buffers is not one");
      if (group.calls.size() == 1)
        return wrong(Code::FusionBufferNeeded, group.calls[0], "a call alone elides nothing");
    }
    return true;
  }

  // ---- Calls.

  bool resolve(uint32_t node, Member& m) {
    const GraphNode& n = *steps_[node].node;
    m.node = node;
    m.kernel = &module_.kernels[n.kernel];
    const auto& buffers = m.kernel->buffers;
    m.bound.assign(buffers.size(), none);
    m.scalars.assign(buffers.size(), 0);
    IdMap<BufferId, std::optional<uint64_t>> counts(buffers.size()), values(buffers.size());
    if (n.args.size() < num_arguments(*m.kernel))
      return wrong(Code::FusionPlanBroken, node, "an argument is missing");
    for (const CallArgument& a : arguments(*m.kernel, n)) {
      const GraphBufferId buffer = a.given->buffer;
      if (a.is_scalar()) {
        m.scalars[a.index] = buffer == none ? a.given->bits : shape_.scalars[buffer];
        values[a.index] = m.scalars[a.index];
      } else {
        m.bound[a.index] = buffer;
        counts[a.index] = shape_.counts[buffer];
      }
    }
    if (!n.grid.empty())
      return wrong(Code::FusionLaunchDiffers, node, "a call has its grid from the device");
    Result<LaunchShape> launch = resolve_launch(*m.kernel, counts, values, std::nullopt);
    if (!launch) return wrong(Code::FusionLaunchDiffers, node, "a call cannot be launched");
    m.shape = std::move(*launch);
    if (m.shape.workgroups() == 0)
      return wrong(Code::FusionLaunchDiffers, node, "a call launches nothing");
    look(m);
    return true;
  }

  void look(Member& m) {
    const Program& k = *m.kernel;
    for (const Buffer& b : k.buffers)
      m.only_computes &= is_parameter(b.role) ? b.role != Role::Scratch : b.role == Role::Table;
    walk(k, [&](OpId op) {
      const Opcode code = k.op(op).code;
      switch (info(code).effect) {
        case Effect::Sync:
          m.waits_for_grid |= code == Opcode::Barrier ? k.op(op).attr == uint64_t(Scope::Grid)
                                                      : k.memory(op).scope == Scope::Grid;
          m.only_computes = false;
          break;
        case Effect::Convergent:
          m.observes_subgroup = true;
          m.only_computes = false;
          break;
        case Effect::Trap: m.traps = true; break;
        case Effect::Atomic: m.only_computes = false; break;
        default:
          m.observes_subgroup |= code == Opcode::LaneId || code == Opcode::SubgroupSize;
          m.traps |= code == Opcode::Trap;
          m.loops_freely |= code == Opcode::While;
      }
    });
    m.only_computes &= !m.traps && !m.observes_subgroup;
    IdMap<BufferId, bool> wanted(k.buffers.size());
    for (const BufferId b : wanted.ids()) wanted[b] = m.bound[b] != none;
    // Analyzed once for each kernel, sizes and scalars.
    const auto key = std::tuple(m.kernel, m.shape.counts, m.scalars);
    auto found = seen_.find(key);
    if (found == seen_.end())
      found = seen_.emplace(key, see_accesses(k, m.shape, m.scalars, wanted)).first;
    m.accesses = &found->second;
  }

  // ---- Groups.

  static bool touches(const Member& m, GraphBufferId buffer) {
    return std::find(m.bound.begin(), m.bound.end(), buffer) != m.bound.end();
  }
  static bool may_write(const Member& m, GraphBufferId buffer) {
    for (const BufferId b : m.bound.ids())
      if (m.bound[b] == buffer && is_writable(m.kernel->buffers[b].role)) return true;
    return false;
  }
  static bool takes_as_out(const Member& m, GraphBufferId buffer) {
    for (const BufferId b : m.bound.ids())
      if (m.bound[b] == buffer && m.kernel->buffers[b].role == Role::Out) return true;
    return false;
  }
  bool is_elided(const FusionGroup& group, GraphBufferId buffer) const {
    return std::find(group.elided.begin(), group.elided.end(), buffer) != group.elided.end();
  }
  const std::string& name_of(GraphBufferId buffer) const { return g_.buffers[buffer].name; }

  void check_group(const FusionGroup& group) {
    std::vector<Member> members(group.calls.size());
    for (size_t i = 0; i < members.size(); ++i)
      if (!resolve(group.calls[i], members[i])) return;
    size_t begin = 0;  // first member of the current launch
    uint32_t trapping = none;
    bool traps_before = false;
    for (size_t i = 0; i < members.size(); ++i) {
      const Member& m = members[i];
      if (m.waits_for_grid) {
        wrong(Code::FusionLaunchDiffers, m.node, "a call waits for its whole grid");
        return;
      }
      if ((m.traps && trapping != none) || (traps_before && m.loops_freely)) {
        wrong(Code::FusionTraps, m.node, "a call before may trap, too, or instead");
        return;
      }
      if (m.traps) trapping = m.node;
      traps_before |= m.traps;
      if (i == 0) continue;
      const JoinKind kind = group.joins[i - 1];
      if (kind == JoinKind::Recompute || kind == JoinKind::Handoff) {
        if (!check_producer(group, members, begin, i, kind)) return;
        begin = i;
      } else if (!check_together(group, members, begin, i)) {
        return;
      }
    }
    for (const GraphBufferId b : group.elided)
      if (!check_elided(group, members, b)) return;
  }

  /// Checks that member `at` can be in one kernel with those from `begin` on.
  bool check_together(const FusionGroup& group, const std::vector<Member>& members, size_t begin,
                      size_t at) {
    const Member& m = members[at];
    const Member& first = members[begin];
    if (m.kernel->workgroup != first.kernel->workgroup ||
        m.shape.num_workgroups != first.shape.num_workgroups)
      return wrong(Code::FusionLaunchDiffers, m.node, "the calls have other workgroups");
    for (size_t i = begin; i < at; ++i) {
      const Member& o = members[i];
      const uint32_t x = o.kernel->subgroup, y = m.kernel->subgroup;
      if (x != y && ((x != 0 && y != 0) || (x == 0 && o.observes_subgroup) ||
                     (y == 0 && m.observes_subgroup)))
        return wrong(Code::FusionLaunchDiffers, m.node, "the calls have other subgroups");
    }
    for (size_t i = 0; i < at; ++i)
      for (const BufferId b : m.bound.ids()) {
        const GraphBufferId buffer = m.bound[b];
        if (buffer == none || !touches(members[i], buffer)) continue;
        if (i < begin && (may_write(m, buffer) || is_elided(group, buffer)))
          return wrong(Code::FusionDependence, m.node,
                       fmt::format("`{}` is read anywhere by a call before", name_of(buffer)));
        if (takes_as_out(m, buffer) && !is_elided(group, buffer))
          return wrong(Code::FusionDependence, m.node,
                       fmt::format("`{}` must be cleared between two calls", name_of(buffer)));
        if (i >= begin && !check_pair(members[i], m, buffer)) return false;
      }
    return true;
  }

  bool check_pair(const Member& a, const Member& b, GraphBufferId buffer) {
    for (const SeenAccess& x : *a.accesses) {
      if (a.bound[x.buffer] != buffer) continue;
      for (const SeenAccess& y : *b.accesses) {
        if (b.bound[y.buffer] != buffer || (!x.writes && !y.writes)) continue;
        if (!x.atomic && !y.atomic && meet_only_in_one_invocation(x, y, *b.kernel, b.shape))
          continue;
        return wrong(
            Code::FusionDependence, b.node,
            fmt::format("an element of `{}` may be used by several invocations", name_of(buffer)));
      }
    }
    return true;
  }

  /// Checks that members [begin, at) can be computed inside of member `at`.
  bool check_producer(const FusionGroup& group, const std::vector<Member>& members, size_t begin,
                      size_t at, JoinKind kind) {
    const Member& consumer = members[at];
    const auto no = [&](std::string why) {
      return wrong(Code::FusionJoinKind, consumer.node, std::move(why));
    };
    if (begin != 0) return no("what comes before is joined in this way already");
    GraphBufferId handed = none;
    for (size_t i = begin; i < at; ++i) {
      const Member& m = members[i];
      if (m.traps)
        return wrong(Code::FusionTraps, m.node, "what is computed inside of another call may trap");
      if (kind == JoinKind::Recompute && !m.only_computes)
        return no("the call before does more than compute its elements");
      for (const BufferId b : m.bound.ids()) {
        const GraphBufferId buffer = m.bound[b];
        if (buffer == none) continue;
        const bool writes = is_writable(m.kernel->buffers[b].role);
        for (size_t later = at; later < members.size(); ++later) {
          if (may_write(members[later], buffer) ||
              (writes && later != at && touches(members[later], buffer)))
            return wrong(Code::FusionDependence, members[later].node,
                         fmt::format("`{}` is used by a call that is computed inside of another",
                                     name_of(buffer)));
        }
        if (!writes) continue;
        if (!is_elided(group, buffer))
          return no(fmt::format("`{}` is written to memory", name_of(buffer)));
        if (!touches(consumer, buffer)) continue;
        if (handed != none && handed != buffer) return no("two buffers are handed over");
        handed = buffer;
      }
    }
    if (handed == none) return no("nothing is handed over");
    return kind == JoinKind::Recompute ? check_recompute(members, begin, at, handed)
                                       : check_handoff(members, at, handed);
  }

  bool check_recompute(const std::vector<Member>& members, size_t begin, size_t at,
                       GraphBufferId handed) {
    const auto no = [&](std::string why) {
      return wrong(Code::FusionJoinKind, members[at].node,
                   fmt::format("`{}` {}", name_of(handed), why));
    };
    size_t stores = 0;
    for (size_t i = begin; i < at; ++i)
      for (const SeenAccess& a : *members[i].accesses) {
        if (members[i].bound[a.buffer] != handed) continue;
        ++stores;
        const bool by_id = a.factor[0] > 0 && std::count(a.factor.begin(), a.factor.end(), 0) == 8;
        if (!a.plain || a.reads || !by_id || a.low != a.high || members[i].invocations(1) != 1 ||
            members[i].invocations(2) != 1)
          return no("is not written in one place by the id alone");
      }
    if (stores != 1) return no("is not written in one place");
    size_t parameters = 0;
    for (const GraphBufferId b : members[at].bound) parameters += b == handed;
    if (parameters != 1) return no("is given to the second call twice");
    for (const SeenAccess& a : *members[at].accesses)
      if (members[at].bound[a.buffer] == handed && (!a.plain || a.writes))
        return no("is not only loaded");
    return true;
  }

  bool check_handoff(const std::vector<Member>& members, size_t at, GraphBufferId handed) {
    const auto place = [&](const Member& m) {
      return uint32_t(std::find(m.bound.begin(), m.bound.end(), handed) - m.bound.begin());
    };
    const auto no = [&](std::string_view why) {
      return wrong(Code::FusionJoinKind, members[at].node,
                   fmt::format("`{}` is not handed over: {}", name_of(handed), why));
    };
    if (at != 1) return no("more than one call comes before");
    const JoinOutcome joined =
        fuse_handoff(*members[0].kernel, place(members[0]), *members[1].kernel, place(members[1]));
    if (!joined.joined) return no(joined.why_not);
    for (const JoinedLimit& limit : joined.joined->limits) {
      const LaunchShape& shape = members[limit.of.kernel].shape;
      const uint64_t is = limit.of.kind == JoinedParameter::Kind::Count
                              ? shape.counts[limit.of.index]
                              : shape.num_workgroups[limit.of.index];
      if (is > limit.most) return no("the launch is too large");
    }
    return true;
  }

  // ---- Buffers that are gone.

  bool check_elided(const FusionGroup& group, const std::vector<Member>& members,
                    GraphBufferId buffer) {
    const auto needed = [&](std::string_view why) {
      return wrong(Code::FusionBufferNeeded, group.calls[0],
                   fmt::format("`{}` {}", name_of(buffer), why));
    };
    if (g_.buffers[buffer].parameter) return needed("is a parameter of the graph");
    find_uses();
    if (read_by_host_[buffer]) return needed("is the flag of a loop or the grid of a call");
    const auto first = std::find_if(members.begin(), members.end(),
                                    [&](const Member& m) { return touches(m, buffer); });
    if (first == members.end()) return needed("is not used by the group");
    if (!takes_as_out(*first, buffer) &&
        (steps_[group.calls[0]].depth > 0 || is_used_outside(group, buffer)))
      return needed("may hold something before the group");
    // With no other use, the next reader could only be the group itself, in the loop's next
    // iteration; its reads were checked above.
    if (is_used_outside(group, buffer) && is_read_after(group.calls.back(), buffer))
      return needed("is needed after the group");
    if (is_computed_inside(group, members, buffer)) return true;
    return check_one_element(group, members, buffer);
  }

  /// True if the consumer recomputes the buffer, or has it in shared memory.
  bool is_computed_inside(const FusionGroup& group, const std::vector<Member>& members,
                          GraphBufferId buffer) const {
    for (size_t i = 1; i < members.size(); ++i)
      if ((group.joins[i - 1] == JoinKind::Recompute || group.joins[i - 1] == JoinKind::Handoff) &&
          touches(members[i], buffer))
        for (size_t k = 0; k < i; ++k)
          if (may_write(members[k], buffer)) return true;
    return false;
  }

  bool check_one_element(const FusionGroup& group, const std::vector<Member>& members,
                         GraphBufferId buffer) {
    const SeenAccess* one = nullptr;
    for (const Member& m : members)
      for (const SeenAccess& a : *m.accesses) {
        if (m.bound[a.buffer] != buffer) continue;
        if (!one) one = &a;
        if (!a.plain || a.low != a.high || a.low != one->low || a.factor != one->factor ||
            !meet_only_in_one_invocation(*one, a, *m.kernel, m.shape))
          return wrong(
              Code::FusionBufferNeeded, group.calls[0],
              fmt::format("`{}` has not one element for each invocation", name_of(buffer)));
      }
    return true;
  }

  /// Finds the uses of buffers, and the buffers that the graph itself reads.
  void find_uses() {
    if (!uses_.empty()) return;
    uses_.resize(g_.buffers.size());
    read_by_host_.assign(g_.buffers.size(), false);
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      const GraphNode& n = *steps_[i].node;
      for_each_element(n, [&](const GraphElement& e) { read_by_host_[e.buffer] = true; });
      for (const GraphArg& a : n.args)
        if (a.buffer != none) uses_[a.buffer].push_back(i);
    }
  }

  bool is_used_outside(const FusionGroup& group, GraphBufferId buffer) {
    find_uses();
    return uses_[buffer].front() < group.calls.front() || uses_[buffer].back() > group.calls.back();
  }

  /// Follows every path of the graph from a node until the buffer is cleared.
  bool is_read_after(uint32_t node, GraphBufferId buffer) {
    std::vector<bool> been(steps_.size() + 1, false);
    std::vector<uint32_t> todo = {node + 1};
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (at >= steps_.size() || been[at]) continue;
      been[at] = true;
      const GraphStep& step = steps_[at];
      if (!step.is_call()) {  // after either end of a loop, its body or the next node may run
        todo.push_back(step.partner + 1);
        todo.push_back(at + 1);
        continue;
      }
      bool reads = false, clears = false;
      for (const CallArgument& a : arguments(module_.kernels[step.node->kernel], *step.node)) {
        if (a.given->buffer != buffer) continue;
        (a.parameter->role == Role::Out ? clears : reads) = true;
      }
      if (reads) return true;
      if (!clears) todo.push_back(at + 1);
    }
    return false;
  }

  const Module& module_;
  const Graph& g_;
  const GraphSteps steps_;
  const GraphShape& shape_;
  const FusionPlan& plan_;
  const FusionOptions& options_;
  Diagnostics errors_;
  IdMap<GraphBufferId, std::vector<uint32_t>> uses_;  // by buffer: nodes, in order
  IdMap<GraphBufferId, bool> read_by_host_;           // by buffer
  std::map<std::tuple<const Program*, std::vector<uint64_t>, std::vector<uint64_t>>,
           std::vector<SeenAccess>>
      seen_;
};

}  // namespace

Result<> check_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                      const FusionPlan& plan, const FusionOptions& options) {
  return Checker(module, graph, shape, plan, options).run();
}

}  // namespace vyre::plan
