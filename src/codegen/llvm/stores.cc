// Stores. Out-of-bounds elements and inactive lanes write nothing, and no neighbouring element is
// written.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

void Emitter::store_op(OpId id) {
  const uint32_t values = p_.op(id).operands.count - 1;
  const Role role = p_.buffer_of(id).role;
  for (uint32_t k = 0; k < values; ++k) {
    const Place place = place_of(id, k);
    const ValueId v = p_.operand(id, k + 1), index = p_.operand(id, 0);
    // One lane writes if all have the same address.
    V value = is_uniform(index) && !place.is_private ? get(v) : lanes_of(v);
    store_raw(place, index, low_.to_element(place.element, value, is_host_output(role)));
  }
}

void Emitter::store_raw(const Place& p, ValueId index, V raw) {
  if (p.known && *p.known == 0) return;
  if (p.is_private) return store_private(p, index, raw);
  if (is_uniform(index)) return store_one(p, index, raw);
  if (is_dense(p, index)) return store_dense(p, index, index64(p, index, true), raw);
  if (p.plus == 0 && run_stride(p, index) == 1) return store_likely(p, index, raw);
  store_scatter(p, index, raw);
}

/// A vector store if a run-time test proves neighbours.
void Emitter::store_likely(const Place& p, ValueId index, V raw) {
  const Run run = index_run(index);
  V base = to_index64(p, p_.type(index), run.base);
  if (!run.holds) return store_dense(p, index, base, raw);
  BB dense = block("run");
  BB scattered = block("scattered");
  BB end = block("stored");
  branch(run.holds, dense, scattered, 1);
  enter(dense);
  store_dense(p, index, base, raw);
  b_.CreateBr(end);
  enter(scattered);
  store_scatter(p, index, raw);
  b_.CreateBr(end);
  enter(end);
}

void Emitter::store_at(const Place& p, V address, V value) {
  llvm::StoreInst* store = b_.CreateAlignedStore(value, address, llvm::Align(p.align));
  set_noalias(store, p.buffer);
}

llvm::Value* Emitter::first_lane(V mask) {
  V bits = mask_bits(mask);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse());
}

/// All lanes write to one element: a race unless one does. One of them is the one that did.
void Emitter::store_one(const Place& p, ValueId index, V raw) {
  V at = index64(p, index, true);
  V write = active_ ? any(active_) : nullptr;
  if (!p.proved && !within_limit(p, index)) {
    V is_inside = b_.CreateICmpULT(at, p.limit);
    write = write ? b_.CreateAnd(write, is_inside) : is_inside;
  }
  BB end = nullptr;
  if (write) {
    BB yes = block("write");
    end = block("written");
    b_.CreateCondBr(write, yes, end);
    enter(yes);
  }
  if (raw->getType()->isVectorTy())
    raw = b_.CreateExtractElement(raw, active_ ? first_lane(active_) : b_.getInt64(0));
  store_at(p, address(p, at), raw);
  if (!end) return;
  b_.CreateBr(end);
  enter(end);
}

/// Neighbours from `base` on, which is the index of lane 0 as a number.
void Emitter::store_dense(const Place& p, ValueId index, V base, V raw) {
  if (surely_inside(p, index)) return store_at(p, address(p, base), raw);
  const uint64_t span = uint64_t{p.size / p.scale} * (S_ - 1);
  V whole = b_.CreateICmpULT(base, dense_limit(p, p_.type(index), span));
  // A plain store is cheaper than one with a mask, and most often all lanes are there.
  if (active_) whole = b_.CreateAnd(whole, all(active_));
  BB fast = block("inside");
  BB slow = block("over");
  BB end = block("stored");
  branch(whole, fast, slow, active_ ? -1 : 1);
  enter(fast);
  store_at(p, address(p, base), raw);
  b_.CreateBr(end);
  enter(slow);
  if (active_ && has_masked_access(p.raw)) {
    V inside = b_.CreateICmpULT(base, dense_limit(p, p_.type(index), span));
    BB masked = block("masked");
    BB over = block("over");
    branch(inside, masked, over, 1);
    enter(masked);
    // Named in order: the evaluation order of arguments is unspecified.
    V mask = bits(active_);
    llvm::CallInst* store = b_.CreateMaskedStore(raw, address(p, base), llvm::Align(p.align), mask);
    set_noalias(store, p.buffer);
    b_.CreateBr(end);
    enter(over);
  }
  if (has_masked_access(p.raw) && wraps_once(p_.type(index), span)) {
    for (const auto& [first, mask] : split_run(p, index, base, bits(active_))) {
      llvm::CallInst* store =
          b_.CreateMaskedStore(raw, address(p, first), llvm::Align(p.align), mask);
      set_noalias(store, p.buffer);
    }
  } else {
    llvm::CallInst* call = b_.CreateCall(
        scatter_function(p, true, p_.type(index)),
        {p.pointer, base, raw, mask_bits(active_), p.limit, wrap_bits(p_.type(index))});
    call->setCallingConv(llvm::CallingConv::Fast);
  }
  b_.CreateBr(end);
  enter(end);
}

void Emitter::call_scatter(const Place& p, V index, V raw) {
  llvm::CallInst* call = b_.CreateCall(scatter_function(p, false, Type::U64),
                                       {p.pointer, index, raw, mask_bits(active_), p.limit});
  call->setCallingConv(llvm::CallingConv::Fast);
}

/// Lanes that must not write store to a dummy element.
void Emitter::store_scatter(const Place& p, ValueId index, V raw) {
  const bool native = options_.isa == Isa::X86_64_V4 && p.size >= 4 && S_ >= 8 && S_ <= 32;
  if (S_ > 16 && !native) return call_scatter(p, index64(p, index, false), raw);
  V clamped = nullptr;
  V write = active_;
  if (!p.proved && !surely_inside(p, index)) {
    V is_inside = inside(p, index, &clamped);
    if (!p.known) {
      V some = b_.CreateICmpNE(p.limit, b_.getInt64(0));
      is_inside = b_.CreateAnd(is_inside, splat(some));
    }
    write = mask_and(write, is_inside);
  }
  V at = index64(p, index, false);
  if (p.scale != 1) at = b_.CreateMul(at, llvm::ConstantInt::get(at->getType(), p.scale));
  V addresses = b_.CreateGEP(b_.getInt8Ty(), p.pointer, at);
  if (native) {
    llvm::CallInst* store =
        b_.CreateMaskedScatter(raw, addresses, llvm::Align(p.align),
                               write ? bits(write) : llvm::Constant::getAllOnesValue(mask_type()));
    set_noalias(store, p.buffer);
    return;
  }
  if (write) {
    V nowhere = splat(arena_at(dummy_offset_));
    addresses = b_.CreateSelect(bits(write), addresses, nowhere);
  }
  for (unsigned l = 0; l < S_; ++l) {
    V element = b_.CreateExtractElement(raw, l);
    store_at(p, b_.CreateExtractElement(addresses, l), element);
  }
}

/// The array of each lane has one additional element, which takes out-of-bounds stores.
void Emitter::store_private(const Place& p, ValueId index, V raw) {
  const bool one_row = is_uniform(index) && !lane_major_[p.buffer];
  V at = index64(p, index, one_row);
  V nowhere = llvm::ConstantInt::get(at->getType(), *p.known);
  at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, nowhere);
  if (one_row) {
    V to = address(p, at);
    if (active_) {
      V before = load_at(p, to, raw->getType());
      raw = b_.CreateSelect(bits(active_), raw, before);
    }
    return store_at(p, to, raw);
  }
  if (active_) at = b_.CreateSelect(bits(active_), at, nowhere);
  for (unsigned l = 0; l < S_; ++l) {
    Place lane = p;
    lane.pointer = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p.pointer, p.lane_bytes * l);
    V element = b_.CreateExtractElement(raw, l);
    store_at(p, address(lane, b_.CreateExtractElement(at, l)), element);
  }
}

/// (pointer, indices, elements, mask, limit): writes those of the mask that are below the limit.
/// `run` as for gather_function.
llvm::Function* Emitter::scatter_function(const Place& p, bool run, Type index_type) {
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* indices = llvm::FixedVectorType::get(i64, S_);
  bool is_new = false;
  const std::string name = "scatter_" + type_name(p.raw);
  const bool with_sign = is_signed(index_type);
  llvm::Function* f =
      run ? helper(name + (with_sign ? "_signed_run" : "_run"), b_.getVoidTy(),
                   {b_.getPtrTy(), i64, type, i64, i64, i64}, &is_new)
          : helper(name, b_.getVoidTy(), {b_.getPtrTy(), indices, type, i64, i64}, &is_new);
  if (!is_new) return f;
  BB start = llvm::BasicBlock::Create(c_, "", f);
  BB loop = llvm::BasicBlock::Create(c_, "lane", f);
  BB write = llvm::BasicBlock::Create(c_, "write", f);
  BB next = llvm::BasicBlock::Create(c_, "next", f);
  BB end = llvm::BasicBlock::Create(c_, "end", f);
  llvm::IRBuilder<> b(start);
  V list = run ? nullptr : b.CreateAlloca(indices);
  V values = b.CreateAlloca(type);
  if (!run) b.CreateStore(f->getArg(1), list);
  b.CreateStore(f->getArg(2), values);
  b.CreateCondBr(b.CreateICmpNE(f->getArg(3), b.getInt64(0)), loop, end);
  b.SetInsertPoint(loop);
  llvm::PHINode* mask = b.CreatePHI(i64, 2);
  mask->addIncoming(f->getArg(3), start);
  V lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask, b.getTrue());
  V index = run ? run_index(b, p, f->getArg(1), lane, f->getArg(5), with_sign)
                : b.CreateLoad(i64, b.CreateGEP(i64, list, lane));
  b.CreateCondBr(b.CreateICmpULT(index, f->getArg(4)), write, next);
  b.SetInsertPoint(write);
  V to = b.CreateGEP(b.getInt8Ty(), f->getArg(0), b.CreateMul(index, b.getInt64(p.scale)));
  b.CreateAlignedStore(b.CreateLoad(p.raw, b.CreateGEP(p.raw, values, lane)), to,
                       llvm::Align(p.align));
  b.CreateBr(next);
  b.SetInsertPoint(next);
  V left = b.CreateAnd(mask, b.CreateSub(mask, b.getInt64(1)));
  mask->addIncoming(left, next);
  b.CreateCondBr(b.CreateICmpNE(left, b.getInt64(0)), loop, end);
  b.SetInsertPoint(end);
  b.CreateRetVoid();
  return f;
}

}  // namespace vyre::emit_llvm
