#include "codegen/llvm/split_blocks.h"

#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <vector>

namespace vyre::emit_llvm {
namespace {

/// Operations of a block. The large kernels of tests/codegen/llvm/compile_growth_test.cc compile in
/// about linear time with 1,000; with 2,000 they take a third longer.
constexpr uint64_t max_operations = 1'000;

/// Registers that the value takes: an operation on a wide vector becomes one for each.
uint64_t registers_of(const llvm::Instruction& i, unsigned register_bits) {
  const uint64_t bits = i.getType()->getPrimitiveSizeInBits().getKnownMinValue();
  return std::max<uint64_t>(1, bits / register_bits);
}

/// Allocas stay in the entry block, where they cost nothing at run time.
bool may_begin_block(const llvm::Instruction& i) {
  return !llvm::isa<llvm::PHINode>(i) && !llvm::isa<llvm::AllocaInst>(i) && !i.isTerminator();
}

class SplitLongBlocks : public llvm::FunctionPass {
 public:
  static inline char ID = 0;
  explicit SplitLongBlocks(unsigned register_bits)
      : FunctionPass(ID), register_bits_(register_bits) {}
  bool runOnFunction(llvm::Function& function) override {
    return split_long_blocks(function, register_bits_);
  }
  llvm::StringRef getPassName() const override { return "Split long blocks"; }

 private:
  unsigned register_bits_;
};

}  // namespace

bool split_long_blocks(llvm::Function& function, unsigned register_bits) {
  bool changed = false;
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& b : function) blocks.push_back(&b);
  for (llvm::BasicBlock* b : blocks) {
    std::vector<llvm::Instruction*> first;  // of the new blocks
    uint64_t operations = 0;
    for (llvm::Instruction& i : *b) {
      operations += registers_of(i, register_bits);
      if (operations <= max_operations || !may_begin_block(i)) continue;
      first.push_back(&i);
      operations = 0;
    }
    // From the end: a split moves the instructions after it.
    for (auto at = first.rbegin(); at != first.rend(); ++at) b->splitBasicBlock(*at);
    changed = changed || !first.empty();
  }
  return changed;
}

llvm::FunctionPass* create_split_long_blocks(unsigned register_bits) {
  return new SplitLongBlocks(register_bits);
}

}  // namespace vyre::emit_llvm
