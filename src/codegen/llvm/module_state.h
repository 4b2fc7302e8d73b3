#pragma once

// What a Module owns; for the files of src/codegen/llvm and src/runtime/cpu only.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <exception>
#include <memory>

#include "codegen/llvm/llvm_emit.h"

namespace vyre::emit_llvm {

/// How much work LLVM puts into a kernel. Full compiles the kernels that people write; the others
/// leave out the passes whose time grows faster than the kernel.
enum class Effort : uint8_t {
  Full,
  Large,  // without passes that lengthen live ranges or schedule again after register allocation
  Quick,  // no passes, and unoptimized machine code, which is slower
};

/// Deletes what holds LLVM's tables, except while an exception is on its way: that is a lack of
/// memory, which may have left them half-changed.
struct DeleteUnlessThrown {
  template <class T>
  void operator()(T* object) const {
    if (std::uncaught_exceptions() == 0) delete object;
  }
};
template <class T>
using LlvmOwner = std::unique_ptr<T, DeleteUnlessThrown>;

struct Module::State {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // of `context`, so it goes first
  Isa isa = Isa::X86_64_V3;
  Effort effort = Effort::Full;
  uint64_t stack_bytes = 0;  // of the largest frame, once code is generated
};

}  // namespace vyre::emit_llvm
