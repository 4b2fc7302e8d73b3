#pragma once

// Compilation in another process, for compilations with limits: LLVM cannot be stopped inside a
// process, and one that finds no memory cannot always go on. The compiler process is the program
// vyre_cpu_compiler beside libvyre_cpu.so (or at $VYRE_CPU_COMPILER). It is started by the first
// compilation with a limit and ends with this process.

#include "driver/cpu/cpu_kernel.h"

namespace vyre::driver {

/// What compile_kernel() gives, within options.limits: V0502 at the deadline, V0503 where the
/// memory does not suffice. V0704 if the compiler process cannot be started or crashes.
Result<std::shared_ptr<CpuKernel>> compile_isolated(const Program& program,
                                                    const CompileOptions& options,
                                                    const CpuOptions& cpu);

}  // namespace vyre::driver
