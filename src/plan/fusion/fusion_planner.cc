// plan_fusion(): the cheapest way to divide each sequence of calls into groups.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "plan/fusion/check_fusion.h"
#include "plan/fusion/fusion_group.h"
#include "plan/fusion/fusion_plan_parts.h"
#include "plan/fusion/fusion_traffic.h"

namespace vyre::plan {

std::string_view name(JoinKind kind) {
  constexpr std::string_view names[] = {"independent", "same_invocation", "recompute", "handoff"};
  return names[static_cast<int>(kind)];
}

std::vector<CallSummary> summarize_all(const FusionCalls& calls) {
  // Calls of one kernel with the same sizes and scalars have the same summary.
  using Key =
      std::tuple<const Program*, std::vector<uint64_t>, std::vector<uint64_t>, std::vector<bool>>;
  std::map<Key, size_t> known;
  std::vector<CallSummary> list(calls.calls.size());
  for (size_t i = 0; i < calls.calls.size(); ++i) {
    const FusionCall& call = calls.calls[i];
    if (!call.alone.empty()) continue;
    std::vector<bool> bound;
    for (const GraphBufferId m : call.memory) bound.push_back(m != none);
    const auto [found, is_new] =
        known.try_emplace(Key{call.kernel, call.shape.counts, call.scalars, bound}, i);
    list[i] = is_new ? summarize(call) : list[found->second];
  }
  return list;
}

namespace {

std::string time_text(double ns) {
  return ns < 1e6 ? fmt::format("{:.1f} µs", ns / 1e3) : fmt::format("{:.1f} ms", ns / 1e6);
}

class Planner {
 public:
  Planner(const Graph& graph, const FusionCalls& calls, const std::vector<CallSummary>& summaries,
          const FusionOptions& options)
      : graph_(graph), calls_(calls), growth_(graph, calls, summaries, options) {}

  FusionPlan run() {
    for (const Stretch& s : calls_.stretches) {
      if (s.first > 0) refuse(s.first, why_loop_border(calls_, s.first));
      plan(s);
    }
    return std::move(plan_);
  }

 private:
  struct Best {
    double cost = std::numeric_limits<double>::infinity();
    uint32_t first = 0;  // of the last group
  };

  void plan(const Stretch& s) {
    const uint32_t n = s.last - s.first + 1;
    std::vector<Best> best(n + 1);  // of the first calls
    std::vector<double> alone(n);   // time of each call in a separate launch
    best[0].cost = 0;
    for (uint32_t i = 0; i < n; ++i) {
      growth_.begin(s.first + i, s);
      alone[i] = growth_.nanoseconds();
      improve(best, i, i + 1);
      std::string why;
      while (growth_.last() < s.last) {
        if (!growth_.extend(why)) break;
        if (growth_.uncleared() == none) improve(best, i, growth_.last() - s.first + 1);
      }
    }
    std::vector<uint32_t> starts;
    for (uint32_t end = n; end > 0; end = best[end].first) starts.push_back(best[end].first);
    std::reverse(starts.begin(), starts.end());
    for (size_t g = 0; g < starts.size(); ++g) {
      const uint32_t end = g + 1 < starts.size() ? starts[g + 1] : n;
      add_group(s, starts[g], end - 1);
      if (end == n) break;
      const uint32_t next_end = g + 2 < starts.size() ? starts[g + 2] : n;
      refuse(s.first + end, why_not_larger(alone[end], next_end - end));
    }
  }

  void refuse(uint32_t call, std::string why) {
    plan_.refusals.push_back({calls_.calls[call].node, std::move(why)});
  }

  /// Returns why the group that was just added does not have the next call, too. `next_ns` and
  /// `next_calls`: the estimated time of that call alone, and the number of calls in its group.
  std::string why_not_larger(double next_ns, uint32_t next_calls) {
    const double apart = growth_.nanoseconds() + next_ns;
    std::string why;
    if (!growth_.extend(why)) return why;
    const std::string call = stage_name(calls_, growth_.last());
    if (const GraphBufferId buffer = growth_.uncleared(); buffer != none)
      return fmt::format("`{}` must be cleared before {}", graph_.buffers[buffer].name, call);
    if (next_calls > 1 && growth_.nanoseconds() < apart)
      return fmt::format("fusing {} with {} instead costs less", call,
                         stage_name(calls_, growth_.last() + 1));
    const std::string cause = growth_.added_cost();
    return fmt::format("fusing {} does not pay: about {} instead of {}{}{}", call,
                       time_text(growth_.nanoseconds()), time_text(apart),
                       cause.empty() ? "" : "; ", cause);
  }

  void improve(std::vector<Best>& best, uint32_t first, uint32_t end) {
    const double cost = best[first].cost + growth_.nanoseconds();
    // If costs are equal, the larger group wins, which comes first: fewer launches.
    if (cost < best[end].cost) best[end] = {cost, first};
  }

  void add_group(const Stretch& s, uint32_t first, uint32_t last) {
    growth_.begin(s.first + first, s);
    std::string why;
    for (uint32_t i = first; i < last; ++i) growth_.extend(why);
    FusionGroup group;
    for (uint32_t i = first; i <= last; ++i) group.calls.push_back(calls_.calls[s.first + i].node);
    group.joins = growth_.joins();
    group.elided = growth_.elided();
    plan_.groups.push_back(std::move(group));
  }

  const Graph& graph_;
  const FusionCalls& calls_;
  FusionGrowth growth_;
  FusionPlan plan_;
};

}  // namespace

namespace {

/// Splits groups that the checker does not confirm: it may give up earlier than the planner.
FusionPlan confirmed(const Module& module, const Graph& graph, const GraphShape& shape,
                     FusionPlan plan, const FusionOptions& options) {
  if (check_fusion(module, graph, shape, plan, options)) return plan;
  FusionPlan apart;
  for (const FusionGroup& group : plan.groups)
    for (const uint32_t node : group.calls) apart.groups.push_back({{node}, {}, {}, 0});
  FusionPlan result;
  result.refusals = plan.refusals;
  size_t at = 0;
  for (FusionGroup& group : plan.groups) {
    const size_t n = group.calls.size();
    FusionPlan one = apart;
    one.groups[at] = group;
    one.groups.erase(one.groups.begin() + std::ptrdiff_t(at) + 1,
                     one.groups.begin() + std::ptrdiff_t(at + n));
    const auto checked = check_fusion(module, graph, shape, one, options);
    for (size_t i = 0; !checked && i < n; ++i) {
      result.groups.push_back(apart.groups[at + i]);
      if (i > 0)
        result.refusals.push_back(
            {group.calls[i], "not confirmed: " + checked.errors()[0].message});
    }
    if (checked) result.groups.push_back(std::move(group));
    at += n;
  }
  std::stable_sort(result.refusals.begin(), result.refusals.end(),
                   [](const FusionRefusal& a, const FusionRefusal& b) { return a.call < b.call; });
  return result;
}

}  // namespace

FusionPlan plan_fusion(const Module& module, const Graph& graph, const GraphShape& shape,
                       const FusionOptions& options) {
  const FusionCalls calls(module, graph, shape);
  FusionPlan plan = confirmed(module, graph, shape,
                              Planner(graph, calls, summarize_all(calls), options).run(), options);
  count_avoided(module, graph, shape, options, plan);
  return plan;
}

}  // namespace vyre::plan
