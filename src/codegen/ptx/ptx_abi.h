#pragma once

// The interface between a compiled PTX kernel and the driver that launches it.
//
// One entry, `vyre_kernel`. Its parameter block (codegen/common/gpu_abi.h) is passed whole
// (CU_LAUNCH_PARAM_BUFFER_POINTER):
//
//   control  all zeros before the launch (but see ControlBlock); not used if
//            KernelInfo::uses_control is false
//   stop     must lie in device memory: kernels read it at device scope. The host may write it
//            while the kernel runs. Not used if KernelInfo::uses_stop is false
//   buffers  any address if empty
//
// The block of threads is the program's workgroup, (x, y, z). The grid is
//   Grid::Direct  num_workgroups as it is: x up to 2^31-1, y and z up to 65,535;
//   Grid::Linear  any (X, Y, 1) with X*Y >= the number of workgroups: a block computes its position
//                 from its number, x fastest, and blocks past the end return. For launches that
//                 exceed the limits of Grid::Direct. Not for native grid barriers.
//
// Fields are only ever added, together with a new abi_version.

#include <cstddef>
#include <cstdint>

#include "codegen/common/gpu_abi.h"

namespace vyre::emit_ptx {

inline constexpr uint32_t abi_version = 1;
using emit_gpu::control_offset;
using emit_gpu::ControlBlock;
using emit_gpu::first_parameter_offset;
using emit_gpu::kernel_symbol;
using emit_gpu::num_workgroups_offset;
using emit_gpu::stop_offset;

/// The properties of a kernel, besides its text, that the driver needs.
struct KernelInfo {
  uint32_t abi = abi_version;
  uint32_t parameter_bytes = 0;       // of the block above
  uint32_t subgroup_size = 0;         // the size that the program observes
  uint64_t static_shared_bytes = 0;   // up to 48 KiB, declared in the text
  uint64_t dynamic_shared_bytes = 0;  // above 48 KiB: specified at launch, after raising the limit
  uint64_t private_bytes = 0;         // local memory of an invocation's arrays
  bool uses_control = false;
  bool uses_stop = false;
  bool grid_barrier = false;  // must be launched cooperatively
};

}  // namespace vyre::emit_ptx
