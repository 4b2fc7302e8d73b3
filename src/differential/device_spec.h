#pragma once

// Devices under test, by the names of runtime/device_name.h.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/device.h"

namespace vyre::lab {

struct DeviceSpec {
  std::string text;  // as it was written; Device::open takes it
  driver::OpenOptions open;
  driver::CompileOptions compile;  // its options
};

/// Malformed names are an error; whether the device and its options exist shows when it is opened.
Result<DeviceSpec> parse_device_spec(std::string_view text);

/// A device that is here, and what it is called: `interp`, `cpu`, `cuda:0`, `cuda:1`.
struct PresentDevice {
  std::string name;
  driver::DeviceInfo info;
};
std::vector<PresentDevice> present_devices();

}  // namespace vyre::lab
