// Lanes that trap are told to the runtime one by one, out of line, and are then dead.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

void Emitter::assert_op(OpId id) {
  if (!k_.masked_body) {  // all lanes or none
    BB bad = block("failed");
    BB on = block("holds");
    branch(get(p_.operand(id, 0)), on, bad, 1);
    enter(bad);
    trap_lanes(active_, lanes_of(p_.operand(id, 1)), id);
    go(stretch_end_);
    return enter(on);
  }
  V holds = lanes_of(p_.operand(id, 0));
  V failed = mask_and(active_, b_.CreateNot(holds));
  BB bad = block("failed");
  BB on = block("holds");
  branch(any(failed), bad, on, 0);
  enter(bad);
  trap_lanes(failed, lanes_of(p_.operand(id, 1)), id);
  take_out(failed, From::Body);
  b_.CreateBr(on);
  enter(on);
}

void Emitter::trap_lanes(V mask, V codes, OpId op) {
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* row = llvm::FixedVectorType::get(i32, S_);
  bool is_new = false;
  llvm::Function* f =
      helper("trap_lanes", b_.getVoidTy(), {b_.getPtrTy(), row, row, row, row, i64, i32}, &is_new);
  if (is_new) {
    f->addFnAttr(llvm::Attribute::Cold);
    BB start = llvm::BasicBlock::Create(c_, "", f);
    BB loop = llvm::BasicBlock::Create(c_, "lane", f);
    BB end = llvm::BasicBlock::Create(c_, "end", f);
    llvm::IRBuilder<> b(start);
    V list[4];
    for (unsigned i = 0; i < 4; ++i) {
      list[i] = b.CreateAlloca(row);
      b.CreateStore(f->getArg(i + 1), list[i]);
    }
    V callee = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), f->getArg(0),
                                                               offsetof(LaunchArgs, trap)));
    b.CreateCondBr(b.CreateICmpNE(f->getArg(5), b.getInt64(0)), loop, end);
    b.SetInsertPoint(loop);
    llvm::PHINode* left = b.CreatePHI(i64, 2);
    left->addIncoming(f->getArg(5), start);
    V lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
    V at[4];
    for (unsigned i = 0; i < 4; ++i) at[i] = b.CreateLoad(i32, b.CreateGEP(i32, list[i], lane));
    llvm::FunctionType* type =
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), i32, i32, i32, i32, i32}, false);
    b.CreateCall(type, callee, {f->getArg(0), at[0], at[1], at[2], at[3], f->getArg(6)});
    V others = b.CreateAnd(left, b.CreateSub(left, b.getInt64(1)));
    left->addIncoming(others, loop);
    b.CreateCondBr(b.CreateICmpNE(others, b.getInt64(0)), loop, end);
    b.SetInsertPoint(end);
    b.CreateRetVoid();
  }
  V id[3];
  for (unsigned d = 0; d < 3; ++d) {
    V base = nullptr;
    id[d] = id_lanes(Opcode::GlobalId, d, &base);
    if (!id[d]->getType()->isVectorTy()) id[d] = splat(id[d]);
  }
  llvm::CallInst* call = b_.CreateCall(f, {args_, id[0], id[1], id[2], codes, mask_bits(mask),
                                           b_.getInt32(k_.original[op].value())});
  call->setCallingConv(llvm::CallingConv::Fast);
}

}  // namespace vyre::emit_llvm
