#pragma once

// Compilation in another process, for compilations with limits: LLVM cannot be stopped inside a
// process, and after it runs out of memory it cannot always continue. The compiler process is the
// program vyre_cpu_compiler beside libvyre_cpu.so (or at $VYRE_CPU_COMPILER). It is started by the
// first compilation with a limit and ends with this process.

#include "runtime/cpu/cpu_kernel.h"
#include "runtime/cpu/emit_code.h"

namespace vyre::driver {

/// Returns the result of compile_kernel() within options.limits: V0502 at the deadline, V0503 where
/// the memory does not suffice. V0704 if the compiler process cannot be started or crashes.
Result<std::shared_ptr<CpuKernel>> compile_isolated(const Program& program,
                                                    const CompileOptions& options,
                                                    const CpuOptions& cpu);

/// Returns the result of emit_here() or emit_llvm::list_code() within the limits; errors as above.
Result<std::string> emit_isolated(const Program& program, const EmitRequest& request,
                                  const CompileLimits& limits);
Result<Listing> list_isolated(const Program& program, EmitRequest request,
                              const CompileLimits& limits);

}  // namespace vyre::driver
