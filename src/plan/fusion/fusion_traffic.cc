#include "plan/fusion/fusion_traffic.h"

#include <algorithm>
#include <limits>
#include <map>

#include "opt/analysis/effects.h"
#include "opt/analysis/full_writes.h"

namespace vyre::plan {
namespace {

uint64_t add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

class TrafficCounter {
 public:
  TrafficCounter(const Module& module, const Graph& graph, const GraphShape& shape,
                 const FusionOptions& options)
      : module_(module), graph_(graph), steps_(flatten(graph)), shape_(shape), options_(options) {}

  uint64_t avoided_by(const FusionGroup& group) {
    uint64_t sum = 0;
    if (!group.elided.empty())
      for (const uint32_t node : group.calls) sum = add(sum, of_call(node, group.elided));
    return sum;
  }

 private:
  struct Kernel {
    opt::EffectSummary effects;
    opt::FullWrites full_writes;
  };

  /// Returns the bytes of the elided buffers that the call moves in a separate launch.
  uint64_t of_call(uint32_t node, const std::vector<GraphBufferId>& elided) {
    const GraphNode& of = *steps_[node].node;
    const Result<GraphCall> call = bind_call(module_, graph_, shape_, of);
    if (!call) return 0;  // such a call is not fused
    const Kernel& kernel = analyze(of.kernel);
    uint64_t sum = 0;
    for (const GraphBufferId buffer : elided) {
      uint64_t passes = 0;
      bool loads = false, stores = false;
      for (const BufferId i : call->bound.ids()) {
        if (call->bound[i] != buffer) continue;
        loads |= (kernel.effects.reads & bit_of(i)) != 0;
        stores |= (kernel.effects.writes & bit_of(i)) != 0;
        passes += is_cleared(*call, kernel, i);
      }
      passes += uint64_t{loads} + stores;
      sum = add(sum, passes * shape_.bytes(graph_, buffer));
    }
    return sum;
  }

  bool is_cleared(const GraphCall& call, const Kernel& kernel, BufferId i) const {
    if (call.kernel.buffers[i].role != Role::Out) return false;
    return !options_.proves_full_writes || !kernel.full_writes.covers(i, call.shape, call.scalars);
  }

  const Kernel& analyze(uint32_t index) {
    const auto [found, is_new] = kernels_.try_emplace(index);
    if (is_new) {
      const Program& p = module_.kernels[index];
      found->second.effects = opt::Effects(p).of_program();
      if (options_.proves_full_writes) found->second.full_writes = opt::FullWrites(p);
    }
    return found->second;
  }

  const Module& module_;
  const Graph& graph_;
  const GraphSteps steps_;
  const GraphShape& shape_;
  const FusionOptions& options_;
  std::map<uint32_t, Kernel> kernels_;  // by number in the module
};

}  // namespace

void count_avoided(const Module& module, const Graph& graph, const GraphShape& shape,
                   const FusionOptions& options, FusionPlan& plan) {
  TrafficCounter counter(module, graph, shape, options);
  plan.avoided_launches = plan.avoided_bytes = 0;
  for (FusionGroup& group : plan.groups) {
    group.avoided_bytes = counter.avoided_by(group);
    plan.avoided_bytes = add(plan.avoided_bytes, group.avoided_bytes);
    plan.avoided_launches += group.calls.size() - 1;
  }
}

}  // namespace vyre::plan
