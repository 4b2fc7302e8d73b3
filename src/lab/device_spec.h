#pragma once

// A device and how it is used, in one word: `cpu`, `cuda:1`, `cpu[isa=x86-64-v2,threads=1]`,
// `interp[schedule=reverse]`, `interp[split]`.
//
// In the brackets: `split` (grid barriers become launches even where the device has its own),
// `subgroup=N`, and options that the backend itself understands, as `name=value`.

#include <string>
#include <string_view>
#include <vector>

#include "driver/device.h"

namespace vyre::lab {

struct DeviceSpec {
  std::string text;  // as it was written
  std::string name;  // what Device::open takes
  driver::OpenOptions open;
  driver::CompileOptions compile;
};

/// Malformed brackets are an error; whether the device is here shows when it is opened.
Result<DeviceSpec> parse_device_spec(std::string_view text);

/// Splits at commas that are not in brackets.
std::vector<std::string> split_specs(std::string_view list);

/// A device that is here, and what it is called: `interp`, `cpu`, `cuda:0`, `cuda:1`.
struct PresentDevice {
  std::string name;
  driver::DeviceInfo info;
};
std::vector<PresentDevice> present_devices();

}  // namespace vyre::lab
