#pragma once

// Splits long basic blocks. LLVM selects and schedules instructions block by block, in time that
// grows faster than the block.

#include <llvm/IR/Function.h>
#include <llvm/Pass.h>

namespace vyre::emit_llvm {

/// Splits every block that holds more than about 1,000 operations on registers of this width.
/// Returns true if it split one. Runs in time linear in the number of instructions.
bool split_long_blocks(llvm::Function& function, unsigned register_bits);

/// The same as a pass for the code generator's pipeline.
llvm::FunctionPass* create_split_long_blocks(unsigned register_bits);

}  // namespace vyre::emit_llvm
