#pragma once

// The interface between compiled PTX or SPIR-V kernels and the runtime that launches them.
//
// The parameters of a kernel are one block of plain values, so a runtime fills a byte array:
//
//   offset 0   u64  control: device address of a ControlBlock
//   offset 8   u64  stop: device address of a u32, not 0 to leave at the next poll
//   offset 16  u32  num_workgroups x, y, z
//   offset 28  u32  0
//   offset 32       for each parameter of the program, in the order of Program::buffers (roles
//                   shared, private and table have none):
//                     scalar: u64 bits (the low bytes count)
//                     buffer: u64 device address (aligned to 256 bytes), u64 count of elements
//
// ptx_abi.h and spirv_abi.h define how the block is passed and which fields are optional. Fields
// are only ever added, together with a new abi_version of both.

#include <cstdint>

namespace vyre::emit_gpu {

inline constexpr const char* kernel_symbol = "vyre_kernel";

/// Offsets into the parameter block.
inline constexpr uint32_t control_offset = 0;
inline constexpr uint32_t stop_offset = 8;
inline constexpr uint32_t num_workgroups_offset = 16;
inline constexpr uint32_t zero_offset = 28;
inline constexpr uint32_t first_parameter_offset = 32;

/// The data that a launch writes besides its buffers. In device memory, one per launch in flight.
struct ControlBlock {
  /// The number of the lowest invocation that trapped, in (z, y, x) order: ((z * ny) + y) * nx + x.
  /// The runtime sets both to all ones before the launch.
  uint64_t lowest = ~uint64_t{0};   // minimized first by invocations that trap
  uint64_t trapped = ~uint64_t{0};  // the one whose fields follow; all ones: no trap
  uint32_t x = 0, y = 0, z = 0;     // of that invocation
  uint32_t code = 0;
  uint32_t op = 0;  // OpId in the program that was given to emit()
  uint32_t lock = 0;
  uint32_t stopped_at = 0;  // 1 + OpId of a loop or barrier that was left because of the stop flag
  // The native grid barrier of PTX.
  uint32_t arrived = 0;
  uint32_t generation = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(ControlBlock) == 56);

}  // namespace vyre::emit_gpu
