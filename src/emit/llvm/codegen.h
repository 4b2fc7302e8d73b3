#pragma once

// LLVM's description of the machine that a module is for.

#include <llvm/Target/TargetMachine.h>

#include "emit/llvm/emit.h"

namespace vyre::emit_llvm {

/// This thread's own: LLVM keeps state in it while it compiles.
llvm::TargetMachine& target_machine(Isa isa, bool quick = false);

/// Tells the module and its functions what they are for, where the emitter has not done so.
void set_target(Module& module);

}  // namespace vyre::emit_llvm
