#pragma once

// Which values live across barriers: made before one and used after it in the same invocation. What
// a phase split has to keep, and what a pass that moves code over a barrier makes worse. Never too
// few; too many only where an arm or body leaves early. Linear in ops, operands times depth, and
// what is found.

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
  IdMap<OpId, uint32_t> place_;               // by op; empty if there are no barriers
  IdMap<ValueId, bool> any_;
};

}  // namespace vyre::opt
