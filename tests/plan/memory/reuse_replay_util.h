#pragma once

// Replays a real run at the places of a plan of scratch reuse: for every byte of the slots it is
// known which buffer wrote it last, and whoever reads a byte must be that buffer. So this checks
// the input of the planner, too: an access that the input does not know of is found.

#include "interp/interp.h"
#include "plan/memory/reuse.h"

namespace vyre::plan {

struct ReuseReplay {
  uint64_t calls = 0;
  uint64_t bytes_read = 0, bytes_written = 0;  // in slots, by kernels
  uint64_t clears = 0;
};

/// Runs the graph on the interpreter and looks on. V0889: the first access that the plan would
/// break; or an error of the run. `input` is what the plan was made of, by reuse_input(). Takes
/// four bytes of memory for each byte of the slots.
Result<ReuseReplay> replay_reuse(const Module& module, const Graph& graph,
                                 const interp::GraphInputs& inputs, const ReuseInput& input,
                                 const ReusePlan& plan, interp::Options options = {});

}  // namespace vyre::plan
