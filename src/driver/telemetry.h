#pragma once

// What launches tell: the program's op_id, the device time and the bytes of its buffers. The
// optimizer's hot-path hints are made of it.

#include <cstdint>
#include <functional>
#include <string>

namespace vyre::driver {

struct LaunchSample {
  std::string op_id;  // "" if the program has none
  std::string kernel;
  uint64_t device_ns = 0;
  uint64_t bytes = 0;  // of the buffers bound
};

/// Called from the thread that waits for the launch.
using HotPathSink = std::function<void(const LaunchSample&)>;

}  // namespace vyre::driver
