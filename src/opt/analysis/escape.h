#pragma once

// Escape analysis: which invocations can see the contents of a buffer, and whether the host can. A
// buffer may be visible to the host, to other workgroups, to other invocations of the workgroup, or
// only to its invocation. Runs in time linear in the number of ops.

#include <vector>

#include "ir/program.h"

namespace vyre::opt {

class Escape {
 public:
  enum class Reach : uint8_t { Invocation, Workgroup, Grid, Host };
  explicit Escape(const Program& program);
  Reach of(BufferId buffer) const { return reach_[buffer]; }
  /// True if anything reads it: a load, an atomic whose old value is used, or the host.
  bool is_observed(BufferId buffer) const { return observed_[buffer]; }

 private:
  IdMap<BufferId, Reach> reach_;
  IdMap<BufferId, bool> observed_;
};

}  // namespace vyre::opt
