#include "tests/codegen/llvm/op_batch.h"

#include <gtest/gtest.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "tests/codegen/llvm/jit_util.h"

namespace vyre::cpu_test {
namespace {

emit_llvm::Module empty_module(emit_llvm::Isa isa) {
  auto state = std::make_unique<emit_llvm::Module::State>();
  state->context = std::make_unique<llvm::LLVMContext>();
  state->module = std::make_unique<llvm::Module>("batch", *state->context);
  state->isa = isa;
  return emit_llvm::Module(std::move(state));
}

}  // namespace

OpBatch::OpBatch(emit_llvm::Isa isa) : module_(empty_module(isa)) {}

void OpBatch::add(const std::string& name, const std::vector<Type>& operands, Type result,
                  unsigned lanes, const Body& body) {
  emit_llvm::Module::State& state = module_.state();
  llvm::IRBuilder<> b(*state.context);
  emit_llvm::OpLowering lowering(b, state.isa);
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getInt64Ty(), b.getPtrTy(), b.getPtrTy()}, false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *state.module);
  auto* entry = llvm::BasicBlock::Create(*state.context, "entry", function);
  auto* loop = llvm::BasicBlock::Create(*state.context, "loop", function);
  auto* done = llvm::BasicBlock::Create(*state.context, "done", function);
  b.SetInsertPoint(entry);
  std::vector<llvm::Value*> arrays;
  for (size_t i = 0; i < operands.size(); ++i)
    arrays.push_back(
        b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), function->getArg(2), i)));
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* block = b.CreatePHI(b.getInt64Ty(), 2);
  block->addIncoming(b.getInt64(0), entry);
  const auto at = [&](llvm::Value* array, Type t) {
    const uint64_t bytes = uint64_t{size_of(t)} * std::max(lanes, 1u);
    return b.CreateGEP(b.getInt8Ty(), array, b.CreateMul(block, b.getInt64(bytes)));
  };
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    llvm::Value* raw = b.CreateAlignedLoad(lowering.element_type(operands[i], lanes),
                                           at(arrays[i], operands[i]), llvm::Align(1));
    values.push_back(operands[i] == Type::Bool ? lowering.from_element(Type::Bool, raw) : raw);
  }
  llvm::Value* value = body(lowering, values);
  if (result == Type::Bool) value = lowering.to_element(Type::Bool, value, false);
  ASSERT_EQ(value->getType(), lowering.element_type(result, lanes)) << name;
  b.CreateAlignedStore(value, at(function->getArg(1), result), llvm::Align(1));
  llvm::Value* next = b.CreateAdd(block, b.getInt64(1));
  block->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, function->getArg(0)), loop, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  EXPECT_FALSE(llvm::verifyFunction(*function, &stream)) << name << ": " << problems;
}

std::vector<std::byte> OpBatch::object(bool optimize) {
  if (optimize) emit_llvm::optimize(module_);
  auto bytes = emit_llvm::to_object(module_);
  EXPECT_TRUE(bytes);
  static const std::set<std::string> allowed = {"memset", "memcpy", "fma", "fmaf"};
  for (const std::string& symbol : undefined_symbols(*bytes))
    EXPECT_TRUE(allowed.contains(symbol)) << symbol;
  return *bytes;
}

std::string OpBatch::assembly() {
  emit_llvm::optimize(module_);
  return *emit_llvm::to_assembly(module_);
}

}  // namespace vyre::cpu_test
