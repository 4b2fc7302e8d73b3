#pragma once

// Memory that the device adds to the arguments of a launch. Submissions allocate what
// launch_buffers() lists, and Device::memory_need() sums it up. Internal to src/runtime.

#include <string>
#include <vector>

#include "runtime/device_state.h"

namespace vyre::driver {

/// Memory for one launch, which holds zeros when it begins.
struct LaunchBuffer {
  BufferId index{0};  // after the program's buffers come the spill buffers of a split program
  uint64_t bytes = 0;
  std::string what;  // for messages
};

/// Returns the sizes of a launch with the spill buffers of the executable, if it is split.
Result<LaunchShape> extended_shape(const ExecutableState& executable, LaunchShape shape);

/// Returns scratch buffers, then spill buffers. `extended`: from extended_shape().
std::vector<LaunchBuffer> launch_buffers(const ExecutableState& executable,
                                         const LaunchShape& extended);

/// Returns BackendDevice::working_bytes() of a launch; for a split program, the maximum over its
/// segments. `extended`: from extended_shape().
uint64_t working_bytes(BackendDevice& backend, const ExecutableState& executable,
                       const LaunchShape& extended);

/// Returns V0503 if the need is above the limit; a limit of 0 means none. `whose`: "kernel `k`".
std::optional<Diagnostic> beyond_memory_limit(const MemoryNeed& need, uint64_t limit,
                                              const std::string& whose, const Place& place);

}  // namespace vyre::driver
