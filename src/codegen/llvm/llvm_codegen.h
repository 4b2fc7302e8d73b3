#pragma once

// LLVM's description of the machine that a module is for.

#include <llvm/Target/TargetMachine.h>

#include "codegen/llvm/llvm_emit.h"
#include "codegen/llvm/module_state.h"

namespace vyre::emit_llvm {

/// A target machine of this thread: LLVM keeps state in it during compilation.
llvm::TargetMachine& target_machine(Isa isa, Effort effort = Effort::Full);

/// Sets the target of the module and its functions, where the emitter has not done so.
void set_target(Module& module);

}  // namespace vyre::emit_llvm
