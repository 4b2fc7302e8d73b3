#include "report/graph_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/memory/reuse_live.h"
#include "support/bytes_text.h"

namespace vyre::report {
namespace {

/// Launches in which a bit is set, as ranges; `is_set` by launch.
template <class IsSet>
std::vector<LaunchRange> ranges(size_t launches, IsSet&& is_set) {
  std::vector<LaunchRange> found;
  for (uint32_t i = 0; i < launches; ++i) {
    if (!is_set(i)) continue;
    if (!found.empty() && found.back().second + 1 == i)
      found.back().second = i;
    else
      found.push_back({i, i});
  }
  return found;
}

class Describer {
 public:
  Describer(const plan::PlannedGraph& planned, const Module& module, const Graph& graph)
      : p_(planned), m_(module), g_(graph), steps_(flatten(graph)), fused_(planned.fused.graph()) {
    out_.calls = steps_.empty() ? 0 : steps_.back().stage;
    stays_.assign(g_.buffers.size(), false);
    for (const GraphBufferId b : p_.fused.buffers) stays_[b] = true;
  }

  GraphReport run(const GraphRunFacts& facts) {
    out_.plan_ns = facts.plan_ns;
    out_.avoided_launches = p_.plan.fusion.avoided_launches;
    out_.avoided_bytes = p_.plan.fusion.avoided_bytes;
    list_launches();
    for (const plan::FusionRefusal& r : p_.plan.fusion.refusals)
      out_.refusals.push_back({r.call, steps_[r.call].stage, r.why});
    add_traffic();
    add_runs(facts);
    add_times(facts);
    place_buffers();
    find_gone();
    add_sums(facts);
    return std::move(out_);
  }

 private:
  uint64_t bytes(GraphBufferId buffer) const {
    return p_.plan.counts[buffer] * size_of(g_.buffers[buffer].element);
  }

  /// The planned graph has one call for each group of the plan, and the original loops.
  void list_launches() {
    const GraphSteps steps = flatten(fused_);
    launch_of_.assign(steps.size(), none);
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const GraphStep& step = steps[i];
      if (step.kind == GraphStep::Kind::Begin) {
        const uint32_t end = steps[step.partner].stage;  // exclusive: a loop may have no launches
        out_.loops.push_back({step.node->kind == GraphNodeKind::While, {step.stage, end}});
      } else if (step.is_call()) {
        launch_of_[i] = step.stage - 1;
        out_.launches.push_back(launch(i, step, p_.plan.fusion.groups[step.stage - 1]));
      }
    }
    std::erase_if(out_.loops,
                  [](const GraphReport::Loop& l) { return l.launches.first == l.launches.second; });
    for (GraphReport::Loop& l : out_.loops) --l.launches.second;
  }

  GraphReport::Launch launch(uint32_t node, const GraphStep& step,
                             const plan::FusionGroup& group) const {
    GraphReport::Launch l;
    l.node = node;
    l.kernel = p_.fused.module.kernels[step.node->kernel].name;
    l.depth = step.depth;
    for (const uint32_t c : group.calls)
      l.calls.push_back({c, steps_[c].stage, m_.kernels[steps_[c].node->kernel].name});
    for (const plan::JoinKind k : group.joins) l.joins.emplace_back(name(k));
    for (const GraphBufferId b : group.elided)
      l.elided.push_back({b, g_.buffers[b].name, bytes(b), !stays_[b]});
    l.avoided_bytes = group.avoided_bytes;
    // A grid that the device computes is known only when the launch runs.
    if (!step.node->grid.empty()) return l;
    const Result<GraphCall> call = bind_call(p_.fused.module, fused_, p_.fused.shape, *step.node);
    if (!call) return l;
    l.grid = call->shape.invocations_wanted;
    l.num_workgroups = call->shape.num_workgroups;
    return l;
  }

  /// Adds the buffers that each launch loads and stores. Scratch parameters of kernels are not
  /// buffers of the graph.
  void add_traffic() {
    IdMap<GraphBufferId, bool> is_used(g_.buffers.size());
    for (uint32_t i = 0; i < out_.launches.size(); ++i) {
      GraphReport::Launch& l = out_.launches[i];
      for (const plan::ArmUse& use : p_.arms.arms[i].uses) {
        const GraphBufferId buffer = p_.fused.buffers[use.buffer];
        if (use.reads) l.reads.push_back(buffer);
        if (use.writes) l.writes.push_back(buffer);
        l.traffic_bytes += (uint64_t{use.reads} + use.writes) * bytes(buffer);
        is_used[buffer] = is_used[buffer] || use.reads || use.writes;
      }
    }
    for (const GraphBufferId b : g_.buffers.ids()) {
      if (!is_used[b]) continue;
      const GraphBuffer& of = g_.buffers[b];
      out_.buffers.push_back({b, of.name, bytes(b), of.parameter && is_host_input(of.role),
                              of.parameter && is_host_output(of.role)});
    }
  }

  void add_runs(const GraphRunFacts& facts) {
    GraphReport::Executed& all = out_.executed;
    for (GraphReport::Launch& l : out_.launches) {
      l.runs = l.node < facts.runs.size() ? facts.runs[l.node] : 0;
      all.launches += l.runs;
      all.calls += l.runs * l.calls.size();
      all.avoided_bytes += l.runs * l.avoided_bytes;
      all.traffic_bytes += l.runs * l.traffic_bytes;
    }
    all.avoided_launches = all.calls - all.launches;
    out_.ran = all.launches;
  }

  void add_times(const GraphRunFacts& facts) {
    out_.timed = facts.times.size();
    for (const auto& [node, ns] : facts.times) {
      GraphReport::Launch& l = out_.launches[launch_of_[node]];
      l.min_ns = l.times == 0 ? ns : std::min(l.min_ns, ns);
      l.max_ns = std::max(l.max_ns, ns);
      l.total_ns += ns;
      ++l.times;
    }
  }

  /// The planner determines when a buffer in a slot is live; a buffer with its own memory is live
  /// from the first to the last launch that uses it, or while a loop around them runs.
  void place_buffers() {
    const plan::Lifetimes lives = plan::find_lifetimes(p_.arms);
    IdMap<GraphBufferId, uint32_t> column(fused_.buffers.size(), plan::Lifetimes::never);
    for (uint32_t c = 0; c < lives.buffers.size(); ++c)
      if (lives.buffers[c] != none) column[lives.buffers[c]] = c;
    for (const GraphBufferId i : fused_.buffers.ids()) {
      if (fused_.buffers[i].parameter) continue;
      GraphReport::Intermediate b = intermediate(p_.fused.buffers[i]);
      b.at = p_.plan.reuse.placement[i];
      if (b.at.slot == plan::Placement::own || column[i] == plan::Lifetimes::never) {
        b.live = used_by(i);
      } else {
        b.live = ranges(out_.launches.size(),
                        [&](uint32_t arm) { return lives.live.test(arm, column[i]); });
      }
      if (b.at.slot != plan::Placement::own) {
        const uint64_t end = slot_begin(b.at.slot) + b.at.offset + b.allocated;
        for (const auto& [first, last] : b.live)
          for (uint32_t arm = first; arm <= last; ++arm) {
            GraphReport::Launch& l = out_.launches[arm];
            l.live_bytes += b.allocated;
            l.slot_bytes = std::max(l.slot_bytes, end);
          }
      }
      out_.placed.push_back(std::move(b));
    }
  }

  GraphReport::Intermediate intermediate(GraphBufferId buffer) const {
    GraphReport::Intermediate b;
    b.buffer = buffer;
    b.name = g_.buffers[buffer].name;
    b.bytes = bytes(buffer);
    b.allocated = plan::allocated_bytes(b.bytes);
    return b;
  }

  /// The offset of a slot if slots are laid out consecutively.
  uint64_t slot_begin(uint32_t slot) const {
    uint64_t begin = 0;
    for (uint32_t i = 0; i < slot; ++i) begin += p_.plan.reuse.slot_bytes[i];
    return begin;
  }

  std::vector<LaunchRange> used_by(GraphBufferId buffer) const {
    uint32_t first = none, last = 0;
    for (uint32_t arm = 0; arm < p_.arms.arms.size(); ++arm)
      for (const plan::ArmUse& use : p_.arms.arms[arm].uses)
        if (use.buffer == buffer) {
          first = std::min(first, arm);
          last = arm;
        }
    if (first == none) return {};
    for (const GraphReport::Loop& l : out_.loops)
      if (l.launches.first <= last && l.launches.second >= first) {
        first = std::min(first, l.launches.first);
        last = std::max(last, l.launches.second);
      }
    return {{first, last}};
  }

  void find_gone() {
    for (const GraphBufferId b : g_.buffers.ids()) {
      if (g_.buffers[b].parameter || stays_[b]) continue;
      GraphReport::Intermediate gone = intermediate(b);
      gone.live = ranges(out_.launches.size(), [&](uint32_t i) {
        const auto& elided = out_.launches[i].elided;
        return std::any_of(elided.begin(), elided.end(),
                           [b](const GraphReport::Elided& e) { return e.buffer == b; });
      });
      out_.gone.push_back(std::move(gone));
    }
  }

  void add_sums(const GraphRunFacts& facts) {
    const plan::ReusePlan& r = p_.plan.reuse;
    out_.slots = r.slot_bytes;
    out_.before = r.before;
    out_.after = r.after;
    out_.live_sum = r.live_sum;
    for (const auto& [arm, buffer] : r.clears)
      out_.clears.push_back({arm, p_.fused.buffers[buffer], fused_.buffers[buffer].name});
    out_.parameters = facts.parameters;
    out_.scratch = facts.scratch;
    out_.peak = facts.device_peak;
    out_.peak_unplanned = facts.device_peak - facts.intermediates + facts.unplanned_intermediates;
  }

  const plan::PlannedGraph& p_;
  const Module& m_;
  const Graph& g_;
  const GraphSteps steps_;  // before fusion
  const Graph& fused_;
  IdMap<GraphBufferId, bool> stays_;  // by buffer before fusion: the planned graph has it
  std::vector<uint32_t> launch_of_;   // by node of the planned graph
  GraphReport out_;
};

}  // namespace

GraphReport describe_graph(const plan::PlannedGraph& planned, const Module& module,
                           const Graph& graph, const GraphRunFacts& run) {
  return Describer(planned, module, graph).run(run);
}

std::string summary_line(const GraphReport& g) {
  return fmt::format(
      "{} launch{} for {} call{}; {} of memory traffic avoided; at most {} on the device, {} "
      "without the plan",
      g.executed.launches, g.executed.launches == 1 ? "" : "es", g.executed.calls,
      g.executed.calls == 1 ? "" : "s", bytes_text(g.executed.avoided_bytes), bytes_text(g.peak),
      bytes_text(g.peak_unplanned));
}

}  // namespace vyre::report
