#pragma once

// Measures the memory bandwidth of a device, for reports: a kernel copies a large buffer. The
// result is kept in the folder of the compile cache.

#include <cstdint>
#include <string>
#include <string_view>

namespace vyre::driver {

struct CacheOptions;

struct Bandwidth {
  uint64_t bytes_per_second = 0;  // loads and stores together, of the fastest of a few copies
  std::string failure;            // why it is not measured; "" if it was
};

/// Returns the bandwidth. The first call for this device, its driver and this vyre takes well under
/// a second. A failure is not stored.
Bandwidth measured_bandwidth(std::string_view backend, uint32_t index, const CacheOptions& cache);

}  // namespace vyre::driver
