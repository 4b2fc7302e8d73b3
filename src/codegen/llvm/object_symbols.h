#pragma once

// The symbols of an object file that is linked into a program with others like it. The JIT needs
// none of this: each of its kernels is a library with one `vyre_kernel`.

#include <string>

#include "codegen/llvm/llvm_emit.h"

namespace vyre::emit_llvm {

/// A kernel's KernelInfo has the kernel's symbol with this at the end.
inline constexpr const char* info_suffix = "_info";

/// Renames the function `vyre_kernel` to `symbol`, with the old name as a weak alias, and adds the
/// constant SYMBOL_info, the module's KernelInfo. Call it after optimize().
void set_object_symbols(Module& module, const std::string& symbol);

}  // namespace vyre::emit_llvm
