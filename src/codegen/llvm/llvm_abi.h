#pragma once

// The interface between compiled CPU code and the runtime that calls it. Plain data: the same on
// every 64-bit, little-endian target, so that an object file can be kept, moved and linked into any
// program.
//
// Compiled code refers only to memory that LaunchArgs points to and to these C symbols: memset,
// memcpy, and on targets without the instruction fma and fmaf. Fields are only ever added at the
// end, together with a new abi_version.

#include <cstddef>
#include <cstdint>

namespace vyre::emit_llvm {

inline constexpr uint32_t abi_version = 1;

/// One launch. Lists are by index into Program::buffers.
struct LaunchArgs {
  std::byte* const* buffers;  // of parameters but scalars; 64-byte aligned or null if empty
  const uint64_t* counts;     // elements
  const uint64_t* scalars;    // bits
  uint64_t num_workgroups[3];
  /// Not 0: leave at the next poll. Polled at back-edges and phase borders with a relaxed load.
  const uint32_t* stop;
  /// A lane has trapped: told for each lane, from any worker. The lane is then dead.
  void (*trap)(const LaunchArgs* args, uint32_t x, uint32_t y, uint32_t z, uint32_t code,
               uint32_t op);
  void* context;  // of the runtime, for trap()
};

/// The symbol `vyre_kernel`: runs the workgroups first … last-1 in linear order (x fastest) on the
/// calling thread. `arena` is memory that only this worker uses: KernelInfo::arena_bytes, 64-byte
/// aligned. The caller has set rounding to nearest and enabled subnormals. Returns 0 when done; if
/// stopped, one more than the OpId of the loop or barrier at which it stopped.
using KernelFunction = uint32_t (*)(const LaunchArgs* args, uint64_t first, uint64_t last,
                                    std::byte* arena);
inline constexpr const char* kernel_symbol = "vyre_kernel";

/// The properties of a compiled kernel, besides its code, that the runtime needs.
struct KernelInfo {
  uint32_t abi = abi_version;
  uint32_t subgroup_size = 0;  // lanes that run together
  uint64_t arena_bytes = 0;
  uint64_t stack_bytes = 0;  // of its frame; 0 below 16 KiB
};

}  // namespace vyre::emit_llvm
