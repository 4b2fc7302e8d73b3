#pragma once

// What a compiled SPIR-V kernel and the driver that dispatches it agree on.
//
// One entry, `vyre_kernel`, a compute shader; buffers by device address, no descriptors. Its
// parameters are one block of plain values, the same as a PTX kernel's (codegen/ptx/ptx_abi.h):
//
//   offset 0   u64  control: device address of a ControlBlock; of 8 bytes that are zero, if the
//                   kernel reads those (KernelInfo::uses_zeros)
//   offset 8   u64  stop: device address of a u32, not 0 to leave at the next poll
//   offset 16  u32  num_workgroups x, y, z
//   offset 28  u32  0: constant zeros are taken from here where a device would fold them
//   offset 32       for each parameter of the program in order: scalar: u64 bits; buffer: u64
//                   device address (aligned to 256 bytes), u64 count of elements; an empty
//                   buffer's is that of 8 bytes which may be read
//
// If it has at most Profile::push_constant_bytes it is the push constants; else the push constants
// are one u64, the device address of the block (KernelInfo::block_in_memory).
//
// The dispatch is num_workgroups as it is, if each is at most Profile::most_workgroups and
// EmitOptions::linear_grid is not set; else any (X, Y, Z) with X*Y*Z >= the number of workgroups: a
// workgroup computes its place from its number, x fastest, and those past the end leave.
//
// Fields are only ever added, together with a new abi_version.

#include <cstddef>
#include <cstdint>

#include "codegen/ptx/ptx_abi.h"

namespace vyre::emit_spirv {

inline constexpr uint32_t abi_version = 2;
inline constexpr const char* kernel_symbol = "vyre_kernel";

/// Offsets into the parameter block.
using emit_ptx::control_offset;
using emit_ptx::num_workgroups_offset;
using emit_ptx::stop_offset;
inline constexpr uint32_t zero_offset = 28;
using emit_ptx::first_parameter_offset;

/// The same fields with the same meaning; a device without 64-bit atomics orders traps with `lock`.
using ControlBlock = emit_ptx::ControlBlock;
/// Added to ControlBlock::stopped_at: the device ended the loop by itself, and nothing that follows
/// is right (Profile::long_loops).
inline constexpr uint32_t cut_loop = 0x80000000;

/// What the driver must know of a kernel besides its words.
struct KernelInfo {
  uint32_t abi = abi_version;
  uint32_t parameter_bytes = 0;  // of the block above
  bool block_in_memory = false;
  uint32_t subgroup_size = 0;    // what the program observes
  uint32_t native_subgroup = 0;  // the size that the pipeline must be created with; 0: any
  bool full_subgroups = false;   // the pipeline must ask for full subgroups
  uint64_t shared_bytes = 0;     // of one workgroup, as declared
  bool uses_control = false;
  bool uses_zeros = false;  // one of these two at most
  bool uses_stop = false;
  bool linear_grid = false;
};

}  // namespace vyre::emit_spirv
