#include "opt/passes/handoff_profit.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::opt {
namespace {

uint64_t workgroup_invocations(const Program& p) {
  return uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2];
}

uint64_t bytes_of(const Program& p, const HandoffCandidate& c) {
  uint64_t count = 0;
  p.formulas.is_constant(p.buffers[c.buffer].count, &count);
  return count * size_of(p.buffers[c.buffer].element);
}

/// Resident invocations of a unit if each workgroup has this many bytes of shared memory.
uint64_t resident(const TileCosts& tile, uint64_t invocations, uint64_t shared) {
  const uint64_t by_threads = std::max<uint64_t>(tile.unit_threads / invocations, 1);
  const uint64_t by_shared =
      shared == 0 ? by_threads : std::max<uint64_t>(tile.unit_shared / shared, 1);
  return std::min(by_threads, by_shared) * invocations;
}

/// Returns the additional time of a workgroup's other traffic, because fewer invocations hide its
/// latency.
uint64_t occupancy_cost(const HandoffCandidate& c, const DeviceCosts& costs, uint64_t invocations,
                        uint64_t shared) {
  if (costs.tile.unit_shared == 0) return 0;
  const uint64_t before =
      std::min(resident(costs.tile, invocations, shared), costs.tile.hiding_threads);
  const uint64_t after =
      std::min(resident(costs.tile, invocations, shared + c.bytes), costs.tile.hiding_threads);
  return c.other_traffic * invocations * costs.tile.device_byte * (before - after) / after;
}

}  // namespace

HandoffProfit handoff_profit(const Program& p, const HandoffCandidate& c, const DeviceCosts& costs,
                             uint64_t shared) {
  const uint64_t invocations = workgroup_invocations(p);
  HandoffProfit r;
  // A buffer that all workgroups store to moves between cores, whatever its size.
  if (!c.is_tile || bytes_of(p, c) > costs.tile.cache_bytes)
    r.saved_ps += 2 * c.bytes * costs.tile.device_byte;
  if (costs.tile.cached_byte > costs.tile.shared_byte)
    r.saved_ps += c.traffic * invocations * (costs.tile.cached_byte - costs.tile.shared_byte);
  r.saved_ps += c.checked * invocations * costs.tile.bounds_check;
  r.cost_ps += c.index_ops * invocations * costs.tile.index_op;
  r.cost_ps += c.cleared_bytes * costs.tile.clear_byte;
  if (c.barrier_before != none) r.cost_ps += invocations * costs.tile.barrier;
  r.cost_ps += costs.tile.tile_reuse + occupancy_cost(c, costs, invocations, shared);
  return r;
}

std::string in_words(const Program& p, const HandoffCandidate& c, const DeviceCosts& costs,
                     const HandoffProfit& profit) {
  return fmt::format(
      "promoting `{}` does not pay on a {}: for each workgroup it saves {} ps ({} buffer of {} "
      "bytes, {} checked "
      "accesses per invocation) and costs {} ps ({} index ops per invocation, {} bytes cleared, {} "
      "barrier{}, {} bytes "
      "of shared memory)",
      p.buffers[c.buffer].name, costs.name, profit.saved_ps,
      bytes_of(p, c) > costs.tile.cache_bytes ? "uncached" : "cached", bytes_of(p, c), c.checked,
      profit.cost_ps, c.index_ops, c.cleared_bytes, c.barrier_before != none ? 1 : 0,
      c.barrier_before != none ? "" : "s", c.bytes);
}

}  // namespace vyre::opt
