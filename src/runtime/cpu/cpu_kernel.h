#pragma once

// A compiled kernel in this process, and its form in the compile cache.

#include <atomic>
#include <memory>

#include "codegen/llvm/llvm_emit.h"
#include "runtime/backend.h"
#include "runtime/cpu/cpu_jit.h"

namespace vyre::driver {

/// The options of CompileOptions::extra and the environment.
struct CpuOptions {
  emit_llvm::Isa isa = emit_llvm::Isa::X86_64_V2;
  uint32_t threads = 0;  // 0: all of the device
};

struct CpuKernel : CompiledKernel {
  emit_llvm::KernelInfo info;
  emit_llvm::Isa isa = emit_llvm::Isa::X86_64_V2;
  uint32_t threads = 0;
  std::vector<std::byte> object;
  std::unique_ptr<LinkedCode> code;
  std::atomic<uint64_t> group_ns{0};  // see KernelCall

  std::vector<std::byte> serialize() const override;
};

/// Returns V0521.
Diagnostic out_of_memory_in_llvm(const Program& program);

/// Compiles a kernel without `code`: an object file. V0521 if LLVM is out of memory.
Result<std::shared_ptr<CpuKernel>> compile_object(const Program& program,
                                                  const CompileOptions& options,
                                                  const CpuOptions& cpu);

Result<std::shared_ptr<CpuKernel>> compile_kernel(const Program& program,
                                                  const CompileOptions& options,
                                                  const CpuOptions& cpu);

/// Loads bytes of serialize(); returns null if they were not written for these options.
std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, const CompileOptions& options,
                                           const CpuOptions& cpu, std::span<const std::byte> bytes);

}  // namespace vyre::driver
