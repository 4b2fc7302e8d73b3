#pragma once

// Describes a device and a launch for the optimizer. The driver and every command of `vyre` that
// optimizes call it, so that they select the same passes.

#include "ir/launch.h"
#include "opt/pass.h"
#include "runtime/backend.h"

namespace vyre::driver {

/// Returns the bytes of all buffers that are parameters. Launches have at most 2^48, so the sum
/// does not overflow.
uint64_t parameter_bytes(const Program& p, const LaunchShape& shape);

/// `launch_bytes`: parameter_bytes() of the launch; 0 if it is unknown.
opt::Target optimizer_target(const DeviceInfo& info, uint64_t launch_bytes);

}  // namespace vyre::driver
