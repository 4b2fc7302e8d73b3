#pragma once

// The proved conditions of a handoff between two kernels for fuse_handoff(): the window
// (fuse_handoff.h), and the launches for which it holds.

#include "plan/fusion/fuse_handoff.h"

namespace vyre::plan {

struct HandoffFacts {
  HandoffWindow window;
  uint64_t most_producer_groups = 0;  // workgroups of the producer's launch
  uint64_t most_consumer_groups = 0;
  uint64_t most_count = 0;       // elements of the buffer; 0: any number
  bool stores_from_zero = true;  // no store can have a negative index, wrapped or not
  bool loads_inside = true;      // loads are inside the window in every legal launch
  bool stores_inside = false;    // so are stores of invocations that are run, if is_aligned
  bool is_aligned = false;       // the window of workgroup w begins with an invocation's elements
};

/// Returns the proved facts, or why a handoff is impossible.
std::optional<HandoffFacts> find_handoff(const Program& producer, BufferId producer_buffer,
                                         const Program& consumer, BufferId consumer_buffer,
                                         uint64_t budget, std::string& why_not);

}  // namespace vyre::plan
