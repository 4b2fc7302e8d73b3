#pragma once

// What passes that trade one kind of work for another know of a device kind's rates. The numbers
// are estimates of a device kind and not measurements of the device at hand: they steer what a pass
// does, never what a program means.

#include <cstdint>
#include <string_view>

namespace vyre::opt {

/// Times are in picoseconds of one core (cpu) or multiprocessor (gpu), which runs the workgroup
/// alone.
struct DeviceCosts {
  std::string_view name;
  uint64_t cache_bytes = 0;   // limit of a buffer that stays in the cache between its uses
  uint64_t device_byte = 0;   // a byte to or from device memory
  uint64_t cached_byte = 0;   // a byte that an invocation loads or stores in a buffer
  uint64_t shared_byte = 0;   // a byte that an invocation loads or stores in shared memory
  uint64_t clear_byte = 0;    // a byte of shared memory zeroed when a workgroup begins
  uint64_t bounds_check = 0;  // per access and invocation
  uint64_t index_op = 0;      // an integer op of an invocation
  uint64_t barrier = 0;       // a workgroup barrier, per invocation
  uint64_t tile_reuse = 0;    // a workgroup stores where the previous one on the core has loaded
  // Occupancy of a core or multiprocessor; unit_shared 0: it runs one workgroup at a time.
  uint64_t unit_shared = 0;     // bytes of shared memory
  uint64_t unit_threads = 0;    // limit of resident invocations
  uint64_t hiding_threads = 0;  // resident invocations that hide the latency of memory
};

/// Measured on one core of a server CPU: 35 ps for each byte of 64 MiB that is written and read
/// once; 2 to 4 ns for each workgroup that reuses a 256-byte tile; 5 to 27 ps for each bounds check
/// (bench/natural/handoffs.vyre).
inline constexpr DeviceCosts cpu_costs = {.name = "cpu",
                                          .cache_bytes = 256 << 10,
                                          .device_byte = 30,
                                          .cached_byte = 0,
                                          .shared_byte = 0,
                                          .clear_byte = 10,
                                          .bounds_check = 12,
                                          .index_op = 2,
                                          .barrier = 30,
                                          .tile_reuse = 4000,
                                          .unit_shared = 0,
                                          .unit_threads = 0,
                                          .hiding_threads = 0};

/// From data sheets of a data-center GPU: 132 multiprocessors at 1.7 GHz share 4.8 TB/s and an L2
/// cache of 50 MB; each has 128 lanes, 228 KiB of shared memory at 128 bytes per cycle, and 2,048
/// threads.
inline constexpr DeviceCosts gpu_costs = {.name = "gpu",
                                          .cache_bytes = 32 << 20,
                                          .device_byte = 27,
                                          .cached_byte = 10,
                                          .shared_byte = 5,
                                          .clear_byte = 5,
                                          .bounds_check = 9,
                                          .index_op = 5,
                                          .barrier = 30,
                                          .tile_reuse = 0,
                                          .unit_shared = 228 << 10,
                                          .unit_threads = 2048,
                                          .hiding_threads = 1024};

/// The table of a backend's devices.
inline constexpr const DeviceCosts& device_costs(std::string_view backend) {
  return backend == "cuda" || backend == "vulkan" ? gpu_costs : cpu_costs;
}

}  // namespace vyre::opt
