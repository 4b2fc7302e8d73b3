#pragma once

// One graph, once, from host bytes to host bytes. Its buffers stay on the device: between calls only
// the elements that loops and grids depend on are read back. A kernel is compiled once, when it is
// first called, and refusing it is an error of that call, as a trap is.

#include "driver/run.h"
#include "interp/interp.h"

namespace vyre::driver {

struct GraphRunOutcome {
  std::vector<std::vector<std::byte>> buffers;  // by buffer; filled for InOut and Out parameters
  std::vector<uint64_t> counts;                 // elements of every buffer of the graph
  uint64_t calls = 0;                           // kernel calls that ran, of one repeat
  std::vector<uint64_t> call_ns;    // device time of the calls in order, of the first repeat
  std::vector<uint64_t> device_ns;  // of all calls, by repeat
  StageTimes times;                 // of the first repeat; `run` is all that is between the copies
  uint64_t uploaded = 0, read_back = 0;
  uint64_t device_bytes = 0;   // all buffers but the scratch ones of kernels
  uint64_t segments = 0;       // launches of one repeat: more than calls if kernels were split
  uint32_t subgroup_size = 0;  // of the kernels that fix none; 0 if no such kernel was called
  std::string origin;          // of the code: compiled if that is so for one kernel
  std::vector<RunEvent> events;
};

/// Gives what interp::run gives, errors included; but for what only a device can say (too large for
/// it, out of its memory). The time limit is that of all calls together, without compiling.
Result<GraphRunOutcome> run_graph(Device& device, const Module& module, const Graph& graph,
                                  const interp::GraphInputs& inputs,
                                  const RunOptions& options = {});

}  // namespace vyre::driver
