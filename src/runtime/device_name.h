#pragma once

// Names of devices, as the command line and Device::open take them: `auto`, `cuda:1`,
// `cpu[isa=x86-64-v2,threads=1]`, `interp[split]`. This is their only parser.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"

namespace vyre::driver {

struct DeviceName {
  std::string text;    // as it was written
  std::string device;  // before the bracket: "cuda:1"
  // In the brackets (runtime/device_options.h):
  bool split = false;
  uint32_t subgroup_size = 0;      // 0: not given
  std::vector<std::string> extra;  // "threads=1", for CompileOptions::extra; sorted
  bool has_options() const { return split || subgroup_size != 0 || !extra.empty(); }
};

/// Parses a name. Malformed brackets are V0701, duplicate options V0610. Whether the device and its
/// options exist is checked when it is chosen (runtime/registry.h).
Result<DeviceName> parse_device_name(std::string_view text);

/// Splits a list at commas that are not in brackets.
std::vector<std::string> split_device_names(std::string_view list);

}  // namespace vyre::driver
