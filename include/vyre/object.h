#pragma once

// Kernels as object files (`vyre emit --target obj`): the interface between such a file and the
// program that links it. This header is enough: the program needs neither the vyre library nor
// LLVM.
//
// A file has the function vyre_kernel_NAME and the constant vyre_kernel_NAME_info, where NAME is
// the kernel's (or what `--symbol` says), so files of different kernels link into one program. The
// function is also the weak symbol vyre_kernel, for programs with one kernel.
//
//   object::LaunchArgs      one launch: buffers, lengths and scalars by parameter, in order
//   object::KernelInfo      the version of this interface, lanes of a subgroup, bytes of the arena
//   object::KernelFunction  runs workgroups first … last-1 on the calling thread
//
// The caller zeroes `out` buffers before a launch, aligns buffers and the arena to 64 bytes, and
// provides an arena per thread. Several threads may run different workgroups of one launch at once.
// Kernels with grid barriers are split (docs/grid_barrier.md) and have no object file.
//
//   // kernel saxpy(a: f32, x: in f32[], y: inout f32[])
//   VYRE_DECLARE_KERNEL(saxpy);
//
//   std::byte* buffers[] = {nullptr, x, y};           // a is a scalar
//   uint64_t counts[] = {1, n, n}, scalars[] = {std::bit_cast<uint32_t>(2.0f), 0, 0};
//   vyre::object::LaunchArgs args{buffers, counts, scalars, {(n + 63) / 64, 1, 1}};
//   uint32_t stop = 0;
//   args.stop = &stop;
//   vyre_kernel_saxpy(&args, 0, args.num_workgroups[0], arena);

#include "codegen/llvm/llvm_abi.h"

namespace vyre::object {

using emit_llvm::abi_version;
using emit_llvm::KernelFunction;
using emit_llvm::KernelInfo;
using emit_llvm::LaunchArgs;

}  // namespace vyre::object

/// Declares the two symbols of a kernel.
#define VYRE_DECLARE_KERNEL(name)                                                              \
  extern "C" uint32_t vyre_kernel_##name(const vyre::object::LaunchArgs* args, uint64_t first, \
                                         uint64_t last, std::byte* arena);                     \
  extern "C" const vyre::object::KernelInfo vyre_kernel_##name##_info
