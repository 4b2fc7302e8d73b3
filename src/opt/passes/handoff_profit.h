#pragma once

// Does promoting a handoff pay on a device? Compares, for one workgroup:
//
//   saves   the bytes of its tile that no longer go to device memory and back, if the buffer
//   exceeds the cache;
//           the difference of rates for the bytes that its invocations load and store; bounds
//           checks, since an index of a tile is proved to be inside of it
//   costs   ops that make indices; zeroing; a barrier, if one is inserted; the reuse of the tile by
//   the next
//           workgroup; occupancy: fewer resident workgroups hide less of the latency of what else
//           it loads and stores
//
// The pass recomputes nothing, so there is no halo to count. Rates are those of DeviceCosts, loops
// of unknown length count as HandoffProof guesses them.

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
/// Why the promotion is refused, with the numbers.
std::string in_words(const Program& program, const HandoffCandidate& candidate,
                     const DeviceCosts& costs, const HandoffProfit& profit);

}  // namespace vyre::opt
