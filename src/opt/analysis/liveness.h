#pragma once

// Values that are live across barriers: defined before one and used after it in the same
// invocation. A phase split must keep these, and a pass that moves code over a barrier can increase
// their number. The result is never too small; it is too large only where a branch or body leaves
// early. Runs in time linear in ops, operands times depth, and the size of the result.

#include <span>
#include <vector>

#include "ir/program.h"

namespace vyre::opt {

class Liveness {
 public:
  explicit Liveness(const Program& program);
  /// Workgroup and grid barriers (and uniform loads at those scopes), in program order.
  std::span<const OpId> barriers() const { return barriers_; }
  /// Values that live across the barrier (an op of barriers()), ascending. Constants don't count.
  std::span<const ValueId> across(OpId barrier) const {
    return place_.empty() || place_[barrier] == none ? std::span<const ValueId>()
                                                     : across_[place_[barrier]];
  }
  bool lives_across_any(ValueId v) const { return any_[v]; }

 private:
  std::vector<OpId> barriers_;
  std::vector<std::vector<ValueId>> across_;  // by place in barriers_
  IdMap<OpId, uint32_t> place_;               // by op; empty without barriers
  IdMap<ValueId, bool> any_;
};

}  // namespace vyre::opt
