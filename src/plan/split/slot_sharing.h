#pragma once

// Copy coalescing for spilled values: a variable that a loop carries and the values that are
// assigned to it share one slot, so that an assignment is a store where the value is computed and
// not a move later. Two values share a slot only if they are never live at the same time.

#include <vector>

#include "ir/program.h"

namespace vyre::plan {

/// Points of the walk over the segments: segment s loads its used values at 2s and stores its
/// defined values at 2s + 1. A value is live from the point of its store to that of its last load.
struct LiveInterval {
  uint32_t begin = 0, end = 0;
};

class SlotSharing {
 public:
  explicit SlotSharing(size_t values) : parent_(values, none), live_(values) {}

  void add(ValueId v, LiveInterval interval) { live_[find(v)].push_back(interval); }
  /// Assigns two values one slot if their intervals do not overlap.
  bool merge(ValueId a, ValueId b);
  /// The value that stands for all that share its slot.
  ValueId find(ValueId v) const;

 private:
  mutable IdMap<ValueId, ValueId> parent_;
  IdMap<ValueId, std::vector<LiveInterval>> live_;  // by value that stands for others
};

}  // namespace vyre::plan
