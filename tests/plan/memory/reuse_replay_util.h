#pragma once

// Replays a real run at the offsets of a plan of scratch reuse. The replay records for every byte
// of the slots which buffer wrote it last; a read of the byte must be of that buffer. This also
// checks the input of the planner: an access that is missing in the input is found.

#include "interp/interp.h"
#include "plan/memory/reuse.h"

namespace vyre::plan {

struct ReuseReplay {
  uint64_t calls = 0;
  uint64_t bytes_read = 0, bytes_written = 0;  // in slots, by kernels
  uint64_t clears = 0;
};

/// Runs the graph on the interpreter and observes its accesses. V0889: the first access that the
/// plan would break; or an error of the run. `input` is the planner's input, from reuse_input().
/// Uses four bytes of memory for each byte of the slots.
Result<ReuseReplay> replay_reuse(const Module& module, const Graph& graph,
                                 const interp::GraphInputs& inputs, const ReuseInput& input,
                                 const ReusePlan& plan, interp::Options options = {});

}  // namespace vyre::plan
