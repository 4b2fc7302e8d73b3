#pragma once

// The data that a Module owns; for the files of src/codegen/llvm and src/runtime/cpu only.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <exception>
#include <memory>

#include "codegen/llvm/llvm_emit.h"

namespace vyre::emit_llvm {

/// The optimization effort of LLVM for a kernel. Full is for kernels of usual size; the others omit
/// passes whose time is superlinear in the size of the kernel.
enum class Effort : uint8_t {
  Full,
  Large,  // without passes that lengthen live ranges or schedule again after register allocation
  Quick,  // no passes, and unoptimized machine code, which is slower
};

/// Deletes the object that holds LLVM's tables, except while an exception propagates: the cause is
/// a lack of memory, which may have left the tables half-changed.
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
