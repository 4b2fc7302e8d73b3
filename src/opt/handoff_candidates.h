#pragma once

// The scratch buffers that the pass promote_handoffs would put into shared memory, found without
// changing the program. passes/promote_handoffs.h has the conditions.

#include <cstdint>
#include <vector>

#include "opt/pass.h"

namespace vyre::opt {

struct HandoffCandidate {
  uint32_t buffer = 0;
  uint64_t elements = 0, bytes = 0;  // in shared memory
  // Work of an invocation on it, estimated where loops have no constant length.
  uint64_t traffic = 0;           // bytes that are loaded and stored
  uint64_t other_traffic = 0;     // the same, of other buffers
  uint64_t checked = 0;           // accesses that need no bounds check afterwards
  uint64_t index_ops = 0;         // ops for indices in the tile
  uint64_t cleared_bytes = 0;     // of shared memory, by the workgroup
  int64_t stride = 0, first = 0;  // tile: elements from stride · workgroup_id.x + first
  bool is_tile = false;
  bool is_exact = true;        // no index wraps
  OpId barrier_before = none;  // none: there is one
};

struct HandoffCandidates {
  std::vector<HandoffCandidate> promoted;  // in the order in which the pass promotes them
  std::vector<Refusal> refusals;           // why other scratch buffers stay, by name
};

/// Returns the effects of promote_handoffs on a program that has passed check(). Runs in time
/// linear in the number of ops for each scratch buffer.
HandoffCandidates handoff_candidates(const Program& program, const Target& target = {});

/// Returns the number of buffers that promote_handoffs would promote.
uint64_t count_handoffs(const Program& program, const Target& target = {});

}  // namespace vyre::opt
