#pragma once

// Who can see what is in a buffer: the host, other workgroups, other invocations of the workgroup,
// or nobody but the invocation itself. Linear.

#include <vector>

#include "ir/program.h"

namespace vyre::opt {

class Escape {
 public:
  enum class Reach : uint8_t { Invocation, Workgroup, Grid, Host };
  explicit Escape(const Program& program);
  Reach of(BufferId buffer) const { return reach_[buffer]; }
  /// Is it read by anything: a load, an atomic that gives its old value to somebody, or the host?
  bool is_observed(BufferId buffer) const { return observed_[buffer]; }

 private:
  IdMap<BufferId, Reach> reach_;
  IdMap<BufferId, bool> observed_;
};

}  // namespace vyre::opt
