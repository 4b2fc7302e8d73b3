// The estimated time of a group: its bodies, how often each is executed, and the cost that the last
// join adds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/fusion/fusion_group.h"

namespace vyre::plan {
namespace {

// Whether a recomputed element exists, and which invocation stores it.
constexpr double guard_operations = 6;

}  // namespace

void FusionGrowth::add_body(uint32_t call) {
  const auto& size = calls_.calls[call].kernel->workgroup;
  bodies_.push_back({call, double(size[0]) * size[1] * size[2], 1, 1});
}

/// The bodies so far are executed where a call loads the buffer, once for each load.
void FusionGrowth::recompute_bodies(uint32_t at, BufferId load, GraphBufferId buffer) {
  const std::vector<Body> before = std::move(bodies_);
  bodies_.clear();
  std::optional<double> store;
  for (const Body& body : before) {
    const FusionCall& call = calls_.calls[body.call];
    for (const AccessWork& a : summary(body.call).work.accesses)
      if (a.stores && call.memory[a.buffer] == buffer) store = a.slope;
  }
  const auto& size = calls_.calls[at].kernel->workgroup;
  for (const AccessWork& a : summary(at).work.accesses) {
    if (a.buffer != load || a.stores) continue;
    for (Body body : before) {
      body.invocations = double(size[0]) * size[1] * size[2];
      body.times *= a.times;
      body.is_recomputed = true;
      if (a.slope && store && *store != 0 && body.lane_step)
        *body.lane_step *= *a.slope / *store;
      else
        body.lane_step.reset();
      bodies_.push_back(body);
    }
  }
}

/// The kernel stays straight code if its bodies are, one after the other.
bool FusionGrowth::may_coarsen() const {
  for (const JoinKind kind : joins_)
    if (kind != JoinKind::Independent && kind != JoinKind::SameInvocation) return false;
  for (uint32_t c = first_; c <= last_; ++c)
    if (!summary(c).coarsens) return false;
  return true;
}

KernelEstimate FusionGrowth::estimated() const {
  const FusionCall& launch = calls_.calls[launch_];
  const auto& size = launch.kernel->workgroup;
  KernelEstimate k;
  k.workgroups = double(launch.shape.workgroups());
  k.workgroup_invocations = double(size[0]) * size[1] * size[2];
  k.may_coarsen = may_coarsen();
  k.bytes = double(bytes());
  k.tile_bytes = double(tile_bytes_);
  for (const Body& body : bodies_) {
    const FusionCall& call = calls_.calls[body.call];
    Phase phase{call.kernel, &summary(body.call).work, body.invocations, body.times,
                body.lane_step};
    if (body.is_recomputed) phase.guard_operations = guard_operations;
    for (const BufferId b : call.memory.ids()) {
      if (first_ == last_) break;
      const GraphBufferId m = call.memory[b];
      const Touched* t = m == none ? nullptr : find(m);
      if (t && m != tile_ && is_elidable(m, *t, last_)) phase.in_registers |= bit_of(b);
    }
    k.phases.push_back(phase);
  }
  return k;
}

double FusionGrowth::nanoseconds() const {
  const DeviceCosts& costs = options_.costs;
  const double ns = estimate_ns(estimated(), costs);
  // A launch saved is certain; the work of the kernel is not.
  return costs.launch_ns + (ns - costs.launch_ns) * margin();
}

double FusionGrowth::margin() const {
  if (tile_ != none) return options_.costs.tile_margin;
  // A barrier divides the bodies of its kernel into loops over the workgroup on a CPU, and
  // contended atomics delay the bodies beside them.
  const auto only_some = [&](auto&& is_special) {
    bool some = false, all = true;
    for (uint32_t c = first_; c <= last_; ++c) {
      const bool special = is_special(summary(c).work);
      some |= special;
      all &= special;
    }
    return some != all;
  };
  const bool mixed = only_some([](const CallWork& work) { return work.barriers > 0; }) ||
                     (options_.costs.atomic_ns > 0 &&
                      only_some([](const CallWork& work) { return work.contention > 0; }));
  return is_inlined() || mixed ? options_.costs.margin : 1;
}

std::string FusionGrowth::added_cost() const {
  if (joins_.empty()) return "";
  const std::string producer = stage(first_);
  const FusionCall &own = calls_.calls[first_], &launch = calls_.calls[launch_];
  const auto& size = own.kernel->workgroup;
  const double workgroups = double(launch.shape.workgroups());
  const double alone = double(own.shape.workgroups()) * size[0] * size[1] * size[2];
  double executed = 0, active = 0;
  bool scattered = false;
  for (const Body& body : bodies_) {
    if (body.call != first_) continue;
    executed += workgroups * body.invocations * body.times;
    active = std::max(active, workgroups * body.invocations);
    scattered |= !body.lane_step || std::abs(*body.lane_step) > 1;
  }
  if (executed > 1.05 * alone)
    return fmt::format("each invocation of {} is executed {:.1f} times", producer,
                       executed / alone);
  const double group = double(launch.kernel->workgroup[0]) * launch.kernel->workgroup[1] *
                       launch.kernel->workgroup[2];
  if (joins_.back() == JoinKind::Handoff && bodies_[0].invocations < group)
    return fmt::format("{} of {} invocations of a workgroup compute the tile",
                       uint64_t(bodies_[0].invocations), uint64_t(group));
  if (active < alone)
    return fmt::format("{} invocations execute {} instead of {}", uint64_t(active), producer,
                       uint64_t(alone));
  if (scattered) return fmt::format("neighbouring invocations of {} are apart", producer);
  return "";
}

}  // namespace vyre::plan
