// Atomics, lane after lane. A workgroup runs on one thread, so those of shared memory and of
// workgroup scope are plain reads and writes.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {
namespace {

llvm::AtomicOrdering order_of(const MemoryRef& ref, Opcode code) {
  using Order = llvm::AtomicOrdering;
  if (!ref.acq_rel) return Order::Monotonic;
  if (code == Opcode::AtomicLoad) return Order::Acquire;
  return code == Opcode::AtomicStore ? Order::Release : Order::AcquireRelease;
}

llvm::AtomicRMWInst::BinOp operation(Opcode code, Type type) {
  using Op = llvm::AtomicRMWInst;
  switch (code) {
    case Opcode::AtomicAdd: return type == Type::F32 ? Op::FAdd : Op::Add;
    case Opcode::AtomicSub: return Op::Sub;
    case Opcode::AtomicMin: return is_signed(type) ? Op::Min : Op::UMin;
    case Opcode::AtomicMax: return is_signed(type) ? Op::Max : Op::UMax;
    case Opcode::AtomicAnd: return Op::And;
    case Opcode::AtomicOr: return Op::Or;
    case Opcode::AtomicXor: return Op::Xor;
    default: return Op::Xchg;
  }
}

/// The value in memory after the op.
llvm::Value* next_value(llvm::IRBuilder<>& b, Opcode code, Type type, llvm::Value* old,
                        llvm::Value* v, llvm::Value* w) {
  switch (code) {
    case Opcode::AtomicAdd: return type == Type::F32 ? b.CreateFAdd(old, v) : b.CreateAdd(old, v);
    case Opcode::AtomicSub: return b.CreateSub(old, v);
    case Opcode::AtomicMin:
      return b.CreateSelect(is_signed(type) ? b.CreateICmpSLT(v, old) : b.CreateICmpULT(v, old), v,
                            old);
    case Opcode::AtomicMax:
      return b.CreateSelect(is_signed(type) ? b.CreateICmpSGT(v, old) : b.CreateICmpUGT(v, old), v,
                            old);
    case Opcode::AtomicAnd: return b.CreateAnd(old, v);
    case Opcode::AtomicOr: return b.CreateOr(old, v);
    case Opcode::AtomicXor: return b.CreateXor(old, v);
    case Opcode::AtomicCas: return b.CreateSelect(b.CreateICmpEQ(old, v), w, old);
    default: return v;
  }
}

/// A NaN that an addition makes is stored, and so is to be seen.
llvm::Value* canonical(llvm::IRBuilder<>& b, llvm::Value* v) {
  llvm::Value* nan = llvm::ConstantFP::get(
      v->getType(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, 0x7fc00000)));
  return b.CreateSelect(b.CreateFCmpUNO(v, v), nan, v);
}

}  // namespace

/// One atomic at an address; returns the old value, or null for a store.
llvm::Value* Emitter::atomic_step(llvm::IRBuilder<>& b, OpId id, bool plain, V address, V v, V w) {
  const Op& o = p_.op(id);
  const Type t = o.type;
  llvm::Type* type = low_.value_type(t);
  const llvm::Align align(size_of(t));
  const auto order = order_of(p_.memory(id), o.code);
  if (plain) {
    if (o.code == Opcode::AtomicStore) return b.CreateAlignedStore(v, address, align), nullptr;
    V old = b.CreateAlignedLoad(type, address, align);
    if (o.code == Opcode::AtomicLoad) return old;
    V now = next_value(b, o.code, t, old, v, w);
    if (t == Type::F32) now = canonical(b, now);
    b.CreateAlignedStore(now, address, align);
    return old;
  }
  switch (o.code) {
    case Opcode::AtomicLoad: {
      llvm::LoadInst* load = b.CreateAlignedLoad(type, address, align);
      load->setAtomic(order);
      return load;
    }
    case Opcode::AtomicStore: {
      llvm::StoreInst* store = b.CreateAlignedStore(v, address, align);
      store->setAtomic(order);
      return nullptr;
    }
    case Opcode::AtomicCas: {
      const auto failed =
          order == llvm::AtomicOrdering::Monotonic ? order : llvm::AtomicOrdering::Acquire;
      return b.CreateExtractValue(b.CreateAtomicCmpXchg(address, v, w, align, order, failed), 0);
    }
    default: break;
  }
  if (t != Type::F32) return b.CreateAtomicRMW(operation(o.code, t), address, v, align, order);
  // Additions of floats by compare and swap, so that a NaN has the specified bits.
  llvm::Function* f = b.GetInsertBlock()->getParent();
  llvm::Type* i32 = b.getInt32Ty();
  BB before = b.GetInsertBlock();
  BB again = llvm::BasicBlock::Create(c_, "again", f);
  BB done = llvm::BasicBlock::Create(c_, "added", f);
  llvm::LoadInst* first = b.CreateAlignedLoad(i32, address, align);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateBr(again);
  b.SetInsertPoint(again);
  llvm::PHINode* old = b.CreatePHI(i32, 2);
  old->addIncoming(first, before);
  V sum = b.CreateFAdd(b.CreateBitCast(old, type), v);
  V bits = b.CreateBitCast(canonical(b, sum), i32);
  V result =
      b.CreateAtomicCmpXchg(address, old, bits, align, order, llvm::AtomicOrdering::Monotonic);
  old->addIncoming(b.CreateExtractValue(result, 0), again);
  b.CreateCondBr(b.CreateExtractValue(result, 1), done, again);
  b.SetInsertPoint(done);
  return b.CreateBitCast(old, type);
}

void Emitter::atomic_op(OpId id) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const bool plain = p_.buffer_of(id).role == Role::Shared || ref.scope != Scope::Grid;
  const bool has_result = o.results.count > 0;
  const bool is_used = has_result && k_.uses[p_.result(id)] > 0;
  if (!is_used && atomic_reduced(id, plain)) return;
  const Place place = place_of(id);
  llvm::SmallVector<V, 6> args = {place.pointer, index64(place, p_.operand(id, 0), false),
                                  place.limit, mask_bits(active_)};
  for (uint32_t k = 1; k < o.operands.count; ++k) args.push_back(lanes_of(p_.operand(id, k)));
  llvm::CallInst* call = b_.CreateCall(atomic_function(id, plain), args);
  call->setCallingConv(llvm::CallingConv::Fast);
  if (!has_result) return;
  V value = call;
  if (is_uniform(p_.result(id))) value = b_.CreateExtractElement(value, uint64_t{0});
  set(p_.result(id), value);
}

/// Combines the lanes first and executes one atomic, if the old value is unused and all lanes
/// access one element. Not for floats, whose additions are done one at a time.
bool Emitter::atomic_reduced(OpId id, bool plain) {
  const Op& o = p_.op(id);
  if (o.type == Type::F32 || !is_uniform(p_.operand(id, 0))) return false;
  Opcode reduce;
  switch (o.code) {
    case Opcode::AtomicAdd:
    case Opcode::AtomicSub: reduce = Opcode::SubgroupAdd; break;
    case Opcode::AtomicMin: reduce = Opcode::SubgroupMin; break;
    case Opcode::AtomicMax: reduce = Opcode::SubgroupMax; break;
    case Opcode::AtomicAnd: reduce = Opcode::SubgroupAnd; break;
    case Opcode::AtomicOr: reduce = Opcode::SubgroupOr; break;
    case Opcode::AtomicXor: reduce = Opcode::SubgroupXor; break;
    default: return false;
  }
  const Place place = place_of(id);
  V at = index64(place, p_.operand(id, 0), true);
  V write = b_.CreateICmpULT(at, place.limit);
  if (active_) write = b_.CreateAnd(write, any(active_));
  BB yes = block("write");
  BB end = block("written");
  b_.CreateCondBr(write, yes, end);
  enter(yes);
  V operand = lanes_of(p_.operand(id, 1));
  V total =
      b_.CreateExtractElement(low_.subgroup(reduce, o.type, {operand}, bits(active_)), uint64_t{0});
  atomic_step(b_, id, plain, address(place, at), total, nullptr);
  b_.CreateBr(end);
  enter(end);
  return true;
}

/// (pointer, indices, limit, mask, values…) → old values, zero where nothing was done.
llvm::Function* Emitter::atomic_function(OpId id, bool plain) {
  const Op& o = p_.op(id);
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* indices = llvm::FixedVectorType::get(i64, S_);
  llvm::Type* element = low_.value_type(o.type);
  llvm::Type* row = llvm::FixedVectorType::get(element, S_);
  const bool has_result = o.results.count > 0;
  std::vector<llvm::Type*> types = {b_.getPtrTy(), indices, i64, i64};
  types.insert(types.end(), o.operands.count - 1, row);
  const std::string name = std::string(mnemonic(o.code)) + "_" + std::string(vyre::name(o.type)) +
                           (plain                   ? "_plain"
                            : p_.memory(id).acq_rel ? "_acq_rel"
                                                    : "");
  bool is_new = false;
  llvm::Function* f = helper(name, has_result ? row : b_.getVoidTy(), types, &is_new);
  if (!is_new) return f;
  BB start = llvm::BasicBlock::Create(c_, "", f);
  BB loop = llvm::BasicBlock::Create(c_, "lane", f);
  BB doing = llvm::BasicBlock::Create(c_, "inside", f);
  BB next = llvm::BasicBlock::Create(c_, "next", f);
  BB end = llvm::BasicBlock::Create(c_, "end", f);
  llvm::IRBuilder<> b(start);
  V list = b.CreateAlloca(indices);
  b.CreateStore(f->getArg(1), list);
  V old = b.CreateAlloca(row);
  b.CreateStore(llvm::Constant::getNullValue(row), old);
  V values[2] = {};
  for (unsigned k = 0; k + 4 < types.size(); ++k) {
    values[k] = b.CreateAlloca(row);
    b.CreateStore(f->getArg(k + 4), values[k]);
  }
  b.CreateCondBr(b.CreateICmpNE(f->getArg(3), b.getInt64(0)), loop, end);
  b.SetInsertPoint(loop);
  llvm::PHINode* mask = b.CreatePHI(i64, 2);
  mask->addIncoming(f->getArg(3), start);
  V lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask, b.getTrue());
  V index = b.CreateLoad(i64, b.CreateGEP(i64, list, lane));
  b.CreateCondBr(b.CreateICmpULT(index, f->getArg(2)), doing, next);
  b.SetInsertPoint(doing);
  V at = b.CreateGEP(element, f->getArg(0), index);
  V operand[2] = {};
  for (unsigned k = 0; k + 4 < types.size(); ++k)
    operand[k] = b.CreateLoad(element, b.CreateGEP(element, values[k], lane));
  V was = atomic_step(b, id, plain, at, operand[0], operand[1]);
  if (has_result) b.CreateStore(was, b.CreateGEP(element, old, lane));
  b.CreateBr(next);
  b.SetInsertPoint(next);
  V left = b.CreateAnd(mask, b.CreateSub(mask, b.getInt64(1)));
  mask->addIncoming(left, next);
  b.CreateCondBr(b.CreateICmpNE(left, b.getInt64(0)), loop, end);
  b.SetInsertPoint(end);
  if (has_result)
    b.CreateRet(b.CreateLoad(row, old));
  else
    b.CreateRetVoid();
  return f;
}

}  // namespace vyre::emit_llvm
