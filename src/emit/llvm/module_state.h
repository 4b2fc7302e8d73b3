#pragma once

// What a Module owns; for the files of src/emit/llvm and src/driver/cpu only.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "emit/llvm/emit.h"

namespace vyre::emit_llvm {

struct Module::State {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // of `context`, so it goes first
  Isa isa = Isa::X86_64_V3;
  /// Too large or too deep for passes that take more than linear time: the machine code is then
  /// written as fast as can be, and is slower.
  bool quick = false;
};

}  // namespace vyre::emit_llvm
