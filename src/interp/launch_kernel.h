#pragma once

// One launch of one kernel on buffers that are already in memory: the common part of running a
// kernel and running a graph.

#include <array>
#include <span>
#include <vector>

#include "interp/interp_limits.h"
#include "interp/interp_memory.h"

namespace vyre::interp {

/// The subgroup size of a program under these options, or an error.
Result<uint32_t> subgroup_size(const Program& program, const Options& options);

/// Set if the time limit passed before the end of the launch: at this op, or none.
struct TimedOut {
  bool is_set = false;
  OpId op = none;
};

/// Runs every workgroup. `views`: parameters by buffer index (tables and arrays are filled in
/// here); `scalars`: bits of scalar parameters. Returns the number of lane ops executed. After an
/// error buffers may have been written to.
Result<uint64_t> launch_kernel(const Program& program, const LaunchShape& shape,
                               IdMap<BufferId, View> views, IdMap<BufferId, uint64_t> scalars,
                               const Options& options, Clock& clock, Memory& memory,
                               TimedOut* stopped = nullptr);

/// Bytes of the workgroups that are active at once, saturated: all of them if they wait for each
/// other at grid barriers, else those of one frame. Compiles the program.
uint64_t working_bytes(const Program& program, const LaunchShape& shape);

/// bad_alloc as a diagnostic.
Diagnostic out_of_memory(const std::string& what);

}  // namespace vyre::interp
