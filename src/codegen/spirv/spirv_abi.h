#pragma once

// The interface between a compiled SPIR-V kernel and the driver that dispatches it.
//
// One entry, `vyre_kernel`, a compute shader; buffers by device address, no descriptors. Its
// parameter block is that of codegen/common/gpu_abi.h:
//
//   control    the device address of 8 zero bytes instead, if the kernel reads those
//              (KernelInfo::uses_zeros)
//   offset 28  constant zeros are read from here where a device would fold them
//   buffers    an empty buffer's address is that of 8 bytes which may be read
//
// If the block has at most Profile::push_constant_bytes, it is the push constants; else the push
// constants are one u64, the device address of the block (KernelInfo::block_in_memory).
//
// The dispatch is num_workgroups as it is, if each is at most Profile::most_workgroups and
// EmitOptions::linear_grid is not set. Otherwise it is any (X, Y, Z) with X*Y*Z >= the number of
// workgroups: a workgroup computes its position from its number, x fastest, and those past the end
// return.
//
// Fields are only ever added, together with a new abi_version.

#include <cstddef>
#include <cstdint>

#include "codegen/common/gpu_abi.h"

namespace vyre::emit_spirv {

inline constexpr uint32_t abi_version = 2;
using emit_gpu::control_offset;
using emit_gpu::ControlBlock;  // a device without 64-bit atomics orders traps with `lock`
using emit_gpu::first_parameter_offset;
using emit_gpu::kernel_symbol;
using emit_gpu::num_workgroups_offset;
using emit_gpu::stop_offset;
using emit_gpu::zero_offset;

/// Added to ControlBlock::stopped_at: the device ended the loop early, and all later results are
/// wrong (Profile::long_loops).
inline constexpr uint32_t cut_loop = 0x80000000;

/// The properties of a kernel, besides its words, that the driver needs.
struct KernelInfo {
  uint32_t abi = abi_version;
  uint32_t parameter_bytes = 0;  // of the block above
  bool block_in_memory = false;
  uint32_t subgroup_size = 0;    // the size that the program observes
  uint32_t native_subgroup = 0;  // the size that the pipeline must be created with; 0: any
  bool full_subgroups = false;   // the pipeline must request full subgroups
  uint64_t shared_bytes = 0;     // of one workgroup, as declared
  bool uses_control = false;
  bool uses_zeros = false;  // at most one of uses_control and uses_zeros is set
  bool uses_stop = false;
  bool linear_grid = false;
};

}  // namespace vyre::emit_spirv
