#pragma once

// Runs one graph once, from host bytes to host bytes: planned, compiled, and run as one submission.
// Its intermediates never leave the device. Programs that run a graph often prepare it once and
// submit LaunchGraph commands (device.h).

#include "interp/interp.h"
#include "runtime/run_kernel.h"

namespace vyre::driver {

struct GraphRunOutcome {
  /// By buffer; filled for the InOut and Out parameters that RunOptions::outputs selects.
  PublicIdMap<GraphBufferId, std::vector<std::byte>> buffers;
  PublicIdMap<GraphBufferId, uint64_t> counts;  // elements of every buffer of the graph
  uint64_t calls = 0;                           // executed in the first repeat; fused calls are one
  std::vector<uint64_t> runs;  // how often each ran there, by node of the planned graph
  /// With RunOptions::call_times: times of the first repeat, in order; at most the first
  /// SubmitReport::most_calls.
  std::vector<CallTime> call_ns;
  std::vector<uint64_t> device_ns;  // of all calls, by repeat
  StageTimes times;                 // of the first repeat; `run` is everything between the copies
  GraphExecutable graph;            // how it ran: the plan
  uint64_t uploaded = 0, read_back = 0;
  uint64_t device_bytes = 0;   // the maximum in use at once
  uint64_t working_bytes = 0;  // MemoryNeed::working
  uint64_t segments = 0;  // SubmitReport::launches of the first repeat: more if kernels were split
  uint32_t subgroup_size = 0;  // of the kernels that fix none; 0 if no such kernel was called
  std::string origin;          // of the code: compiled if any kernel was
  std::vector<RunEvent> events;
};

/// Returns the same result as interp::run, errors included, except for errors of a device (too
/// large for it, out of its memory). The time limit is for all calls together, without compilation.
Result<GraphRunOutcome> run_graph(Device& device, const Module& module, const Graph& graph,
                                  const interp::GraphInputs& inputs,
                                  const RunOptions& options = {});

}  // namespace vyre::driver
