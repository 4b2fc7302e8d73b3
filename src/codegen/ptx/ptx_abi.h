#pragma once

// What a compiled PTX kernel and the driver that launches it agree on.
//
// One entry, `vyre_kernel`. Its parameters are one block of plain values, so a driver fills a byte
// array and passes it whole (CU_LAUNCH_PARAM_BUFFER_POINTER):
//
//   offset 0   u64  control: device address of a ControlBlock, all zeros before the launch (but
//                   see ControlBlock); not used if KernelInfo::uses_control is false
//   offset 8   u64  stop: device address of a u32, not 0 to leave at the next poll. It must lie in
//                   device memory: kernels read it at device scope. The host may write it while the
//                   kernel runs. Not used if KernelInfo::uses_stop is false
//   offset 16  u32  num_workgroups x, y, z
//   offset 28  u32  0
//   offset 32       for each parameter of the program, in the order of Program::buffers (roles
//                   shared, private and table have none):
//                     scalar: u64 bits (the low bytes count)
//                     buffer: u64 device address (aligned to 256 bytes; anything if empty), u64
//                             count of elements
//
// The block of threads is the program's workgroup, (x, y, z). The grid is
//   Grid::Direct  num_workgroups as it is: x up to 2^31-1, y and z up to 65,535;
//   Grid::Linear  any (X, Y, 1) with X*Y >= the number of workgroups: a block computes its place
//                 from its number, x fastest, and those past the end leave. For launches that the
//                 direct form cannot have. Not for native grid barriers.
//
// Fields are only ever added, together with a new abi_version.

#include <cstddef>
#include <cstdint>

namespace vyre::emit_ptx {

inline constexpr uint32_t abi_version = 1;
inline constexpr const char* kernel_symbol = "vyre_kernel";

/// Offsets into the parameter block.
inline constexpr uint32_t control_offset = 0;
inline constexpr uint32_t stop_offset = 8;
inline constexpr uint32_t num_workgroups_offset = 16;
inline constexpr uint32_t first_parameter_offset = 32;

/// What a launch writes besides its buffers. In device memory, one for each launch in flight.
struct ControlBlock {
  /// The number of the lowest invocation that trapped, in (z, y, x) order: ((z * ny) + y) * nx + x.
  /// The driver sets both to all ones before the launch.
  uint64_t lowest = ~uint64_t{0};   // those that trap minimize it first
  uint64_t trapped = ~uint64_t{0};  // the one whose fields follow; all ones: nobody trapped
  uint32_t x = 0, y = 0, z = 0;     // of that invocation
  uint32_t code = 0;
  uint32_t op = 0;  // OpId in the program that was given to emit()
  uint32_t lock = 0;
  uint32_t stopped_at = 0;  // 1 + OpId of a loop or barrier that was left because of the stop flag
  // The native grid barrier.
  uint32_t arrived = 0;
  uint32_t generation = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(ControlBlock) == 56);

/// What the driver must know of a kernel besides its text.
struct KernelInfo {
  uint32_t abi = abi_version;
  uint32_t parameter_bytes = 0;       // of the block above
  uint32_t subgroup_size = 0;         // what the program observes
  uint64_t static_shared_bytes = 0;   // up to 48 KiB, declared in the text
  uint64_t dynamic_shared_bytes = 0;  // above: to be given with the launch, after raising the limit
  uint64_t private_bytes = 0;         // local memory of an invocation's arrays
  bool uses_control = false;
  bool uses_stop = false;
  bool grid_barrier = false;  // must be launched cooperatively
};

}  // namespace vyre::emit_ptx
