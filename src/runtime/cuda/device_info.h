#pragma once

// What a device is, asked without making a context on it.

#include <vector>

#include "codegen/ptx/ptx_emit.h"
#include "runtime/backend.h"
#include "runtime/cuda/cuda_api.h"

namespace vyre::driver::cuda {

struct Properties {
  int ordinal = 0;
  DeviceInfo info;
  int capability = 0;  // 90 is 9.0
  uint32_t multiprocessors = 0;
  bool has_pools = false;
};

/// Calls cuInit. All devices, or none and why, to follow "because".
std::vector<Properties> find_devices(const Api& api, std::string* why_none);

/// The latest text that the device and the driver take, or an error with both numbers.
Result<emit_ptx::Arch> choose_arch(const Api& api, const Properties& device);

/// "8.4": the latest PTX that a driver of this version knows.
std::pair<int, int> ptx_of_driver(int version);

}  // namespace vyre::driver::cuda
