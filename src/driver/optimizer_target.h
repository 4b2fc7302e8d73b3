#pragma once

// What the optimizer is told of a device and a launch. `vyre run` and `vyre bisect` share it, so that they select the
// same passes.

#include "driver/backend.h"
#include "ir/launch.h"
#include "opt/device_costs.h"
#include "opt/pass.h"

namespace vyre::driver {

/// Bytes of all buffers that are parameters. Launches have at most 2^48, so the sum does not overflow.
inline uint64_t parameter_bytes(const Program& p, const LaunchShape& shape) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < p.buffers.size(); ++i)
    if (is_parameter(p.buffers[i].role)) bytes += shape.counts[i] * size_of(p.buffers[i].element);
  return bytes;
}

/// `launch_bytes`: parameter_bytes() of the launch; 0 if it is not known.
inline opt::Target optimizer_target(const DeviceInfo& info, uint64_t launch_bytes) {
  opt::Target target;
  target.shared_bytes = info.limits.shared_bytes;
  target.launch_bytes = launch_bytes;
  target.costs = &opt::device_costs(info.backend);
  return target;
}

}  // namespace vyre::driver
