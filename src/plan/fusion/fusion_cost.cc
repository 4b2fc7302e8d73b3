#include "plan/fusion/fusion_cost.h"

#include <algorithm>
#include <cmath>

namespace vyre::plan {
namespace {

AccessPattern pattern_of(std::optional<double> slope, std::optional<double> lane_step) {
  if (slope == 0.0) return AccessPattern::Uniform;
  if (!slope || !lane_step) return AccessPattern::Gathered;
  const double step = std::abs(*slope * *lane_step);
  if (step == 0) return AccessPattern::Uniform;
  if (step <= 1) return AccessPattern::Contiguous;
  return step <= 4 ? AccessPattern::Strided : AccessPattern::Gathered;
}

/// Time of one execution of a phase by the invocations of one vector.
double vector_ns(const Phase& phase, double lanes, const DeviceCosts& costs) {
  const CallWork& work = *phase.work;
  const double narrow = work.narrow_operations * (lanes > 1 ? costs.narrow_op : 1);
  double ns = (phase.guard_operations + work.operations + narrow) * costs.op_ns +
              work.barriers * costs.barrier_ns;
  for (const AccessWork& access : work.accesses) {
    if (phase.in_registers & bit_of(access.buffer)) continue;
    const Role role = phase.kernel->buffers[access.buffer].role;
    AccessPattern pattern = pattern_of(access.slope, phase.lane_step);
    if (role == Role::Private) pattern = AccessPattern::Contiguous;
    double one = lanes > 1 ? costs.access_ns[int(pattern)] : costs.scalar_access_ns;
    // Vectors of narrow elements are short; a gather takes as long for any element.
    const uint32_t size = size_of(phase.kernel->buffers[access.buffer].element);
    if (pattern == AccessPattern::Contiguous && lanes > 1)
      one *= std::max(costs.narrow_op, double(size) / 4);
    ns += access.times * one;
  }
  return ns * phase.times;
}

/// The time that a vector waits for its own loads.
double waiting_ns(const Phase& phase, const DeviceCosts& costs) {
  return phase.times * (phase.work->serial_loads * costs.access_latency_ns);
}

}  // namespace

double estimate_ns(const KernelEstimate& kernel, const DeviceCosts& costs) {
  const double lanes = std::min(costs.lanes, std::max(1.0, kernel.workgroup_invocations));
  const double vectors = std::ceil(kernel.workgroup_invocations / lanes);
  const double coarse = kernel.may_coarsen ? costs.coarsening : 1;
  double busy = (costs.workgroup_ns + vectors * costs.vector_ns) / coarse, waiting = 0, atomics = 0;
  if (kernel.tile_bytes > 0) busy += costs.tile_ns + kernel.tile_bytes * costs.tile_ns_per_byte;
  for (const Phase& phase : kernel.phases) {
    busy += std::ceil(phase.invocations / lanes) * vector_ns(phase, lanes, costs);
    waiting += waiting_ns(phase, costs) / coarse;
    atomics += kernel.workgroups * phase.invocations * phase.times * phase.work->contention;
  }
  // Units that have work, and vectors that wait at the same time.
  const double units =
      std::min(costs.units, kernel.workgroups * std::min(vectors, costs.units_per_workgroup));
  const double waves =
      std::max(1.0, kernel.workgroups * vectors / (costs.units * costs.vectors_per_unit));
  const double compute = kernel.workgroups * busy / std::max(1.0, units);
  const double memory =
      kernel.bytes *
      (kernel.bytes <= costs.cache_bytes ? costs.cached_ns_per_byte : costs.memory_ns_per_byte);
  return costs.launch_ns + std::max({compute, memory, waves * waiting, atomics * costs.atomic_ns}) +
         costs.overlap_loss * std::min(compute, memory);
}

}  // namespace vyre::plan
