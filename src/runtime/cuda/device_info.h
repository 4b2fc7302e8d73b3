#pragma once

// Properties of a device, queried without creating a context on it.

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

/// Calls cuInit. Returns all devices; or none, and in `why_none` the reason, to follow "because".
std::vector<Properties> find_devices(const Api& api, std::string* why_none);

/// Returns the latest PTX target that the device and the driver accept, or an error with both
/// numbers.
Result<emit_ptx::Arch> choose_arch(const Api& api, const Properties& device);

/// Returns the latest PTX version that a driver of this version accepts: "8.4".
std::pair<int, int> ptx_of_driver(int version);

}  // namespace vyre::driver::cuda
