#pragma once

// Measurements of launches: the device, the program's op_id, the device time and the bytes of its
// buffers. The optimizer's hot-path hints come from them.

#include <cstdint>
#include <functional>
#include <string>

namespace vyre::driver {

struct DeviceInfo;

/// Names a device in measurements: `cuda: NVIDIA H200`. Two devices of one backend and model share
/// their measurements; two backends on one GPU do not.
std::string telemetry_key(const DeviceInfo& device);

struct LaunchSample {
  std::string device;  // telemetry_key()
  std::string op_id;   // "" if the program has none
  std::string kernel;
  uint64_t device_ns = 0;
  uint64_t bytes = 0;  // of the buffers bound
};

/// Called from the thread that waits for the launch.
using HotPathSink = std::function<void(const LaunchSample&)>;

}  // namespace vyre::driver
