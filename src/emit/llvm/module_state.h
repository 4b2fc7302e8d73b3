#pragma once

// What a Module owns; for the files of src/emit/llvm and src/driver/cpu only.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "emit/llvm/emit.h"

namespace vyre::emit_llvm {

/// How much work LLVM puts into a kernel. Full compiles the kernels that people write; the others
/// leave out the passes whose time grows faster than the kernel.
enum class Effort : uint8_t {
  Full,
  Large,  // without passes that lengthen live ranges or schedule again after register allocation
  Quick,  // no passes, and unoptimized machine code, which is slower
};

struct Module::State {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // of `context`, so it goes first
  Isa isa = Isa::X86_64_V3;
  Effort effort = Effort::Full;
};

}  // namespace vyre::emit_llvm
