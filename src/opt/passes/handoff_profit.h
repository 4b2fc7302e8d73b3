#pragma once

// The profit of promoting a handoff on a device, for one workgroup.
//
// Saved:
//   - bytes of its tile to device memory and back, if the buffer exceeds the cache;
//   - for bytes that its invocations load and store, the difference of the rates;
//   - bounds checks: an index of a tile is proved to be inside of it.
// Costs:
//   - ops that make indices;
//   - zeroing, where it is needed;
//   - a barrier, if one is inserted;
//   - on a core that runs one workgroup after the other, the reuse of the tile by the next one;
//   - occupancy: fewer resident workgroups hide less of the latency of other loads and stores.
//
// The pass recomputes nothing, so a halo does not count. Rates are those of TileCosts; loops of
// unknown length count as HandoffProof estimates them.

#include <string>

#include "opt/device_costs.h"
#include "opt/passes/promote_handoffs.h"

namespace vyre::opt {

struct HandoffProfit {
  uint64_t saved_ps = 0, cost_ps = 0;  // of one workgroup
  bool pays() const { return saved_ps > cost_ps; }
};

/// `shared`: bytes of shared memory that a workgroup has already.
HandoffProfit handoff_profit(const Program& program, const HandoffCandidate& candidate,
                             const DeviceCosts& costs, uint64_t shared);
/// Returns why the promotion is refused, with the numbers.
std::string in_words(const Program& program, const HandoffCandidate& candidate,
                     const DeviceCosts& costs, const HandoffProfit& profit);

}  // namespace vyre::opt
