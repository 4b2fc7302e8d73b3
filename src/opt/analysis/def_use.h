#pragma once

// Uses of values. Runs in time linear in the number of ops.

#include <span>
#include <vector>

#include "ir/program.h"

namespace vyre::opt {

struct Use {
  OpId op = none;
  uint32_t operand = 0;
};

class DefUse {
 public:
  explicit DefUse(const Program& program);
  /// In program order.
  std::span<const Use> uses(ValueId v) const {
    return {uses_.data() + begin_[v], begin_[v + 1] - begin_[v]};
  }
  bool is_used(ValueId v) const { return begin_[v] != begin_[v + 1]; }

 private:
  IdMap<ValueId, uint32_t> begin_;
  std::vector<Use> uses_;
};

}  // namespace vyre::opt
