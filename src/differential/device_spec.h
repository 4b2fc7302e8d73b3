#pragma once

// Devices under test, by the names of runtime/device_name.h.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/device.h"

namespace vyre::lab {

struct DeviceSpec {
  std::string text;  // as written; the argument of Device::open
  driver::OpenOptions open;
  driver::CompileOptions compile;  // its options
};

/// Malformed names are an error; opening the device checks whether it and its options exist.
Result<DeviceSpec> parse_device_spec(std::string_view text);

/// An available device, and its name: `interp`, `cpu`, `cuda:0`, `cuda:1`.
struct PresentDevice {
  std::string name;
  driver::DeviceInfo info;
};
std::vector<PresentDevice> present_devices();

}  // namespace vyre::lab
