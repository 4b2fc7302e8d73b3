// Values, ids, slots and masks.

#include <algorithm>

#include "codegen/llvm/isa.h"
#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

llvm::Type* Emitter::type_of(ValueId v) {
  return low_.value_type(p_.type(v), is_uniform(v) ? 0 : S_);
}

llvm::Value* Emitter::splat(V scalar) { return b_.CreateVectorSplat(S_, scalar); }

llvm::Value* Emitter::iota(llvm::Type* element, int64_t step) {
  std::vector<llvm::Constant*> list;
  for (unsigned i = 0; i < S_; ++i)
    list.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(step) * i, false));
  return llvm::ConstantVector::get(list);
}

// ---- Values.

llvm::Value* Emitter::get(ValueId v) {
  const Made& m = made_[v];
  if (m.value && (m.epoch == 0 || m.epoch == epoch_)) return m.value;
  const OpId def = p_.values[v].def;
  if (def != none && is_on_demand(p_.op(def).code)) return on_demand(def);
  if (m.likely.base && m.epoch == epoch_) {
    std::map<ValueId, V> done;
    return compute_lanes(v, done);
  }
  return reload(v);
}

llvm::Value* Emitter::lanes_of(ValueId v) {
  V value = get(v);
  return value->getType()->isVectorTy() ? value : splat(value);
}

llvm::Value* Emitter::base_of(ValueId v) {
  V value = get(v);
  if (!value->getType()->isVectorTy()) return value;
  const OpId def = p_.values[v].def;
  if (def != none && is_on_demand(p_.op(def).code))
    return ids_.at({p_.op(def).code, p_.op(def).attr}).base;
  if (made_[v].base) return made_[v].base;
  return b_.CreateExtractElement(value, uint64_t{0});  // it came out of the arena
}

void Emitter::set(ValueId v, V value, V base) {
  made_[v] = {value, base, epoch_};
  const Home::Kind home = stretches_.home[v].kind;
  if (epoch_ != 0 && (home == Home::Kind::Scalar || home == Home::Kind::Arena)) export_value(v);
}

llvm::Value* Emitter::on_demand(OpId def) {
  const Op& op = p_.op(def);
  const uint32_t n = static_cast<uint32_t>(op.attr);
  switch (op.code) {
    case Opcode::Const: return low_.constant(op.type, op.attr);
    case Opcode::WorkgroupId: return group_[n];
    case Opcode::NumWorkgroups: return counts_[n];
    case Opcode::WorkgroupSize: return b_.getInt32(p_.workgroup[n]);
    case Opcode::SubgroupSize: return b_.getInt32(S_);
    case Opcode::Len:
      return at_start([&] { return b_.CreateTrunc(count_of(op.buffer()), b_.getInt32Ty()); });
    case Opcode::Len64: return count_of(op.buffer());
    case Opcode::Scalar: return scalar_of(op.buffer());
    default: {
      V base = nullptr;
      return id_lanes(op.code, n, &base);
    }
  }
}

/// Lanes count from the subgroup's first invocation, x fastest.
llvm::Value* Emitter::id_lanes(Opcode code, uint32_t dim, V* base) {
  const auto key = std::make_pair(code, uint64_t{dim});
  if (const auto found = ids_.find(key); found != ids_.end()) {
    *base = found->second.base;
    return found->second.value;
  }
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(stretch_entry_->getTerminator());
  llvm::Type* i32 = b_.getInt32Ty();
  Made made;
  if (code == Opcode::LaneId) {
    made = {iota(i32), b_.getInt32(0), 0};
  } else if (code == Opcode::GlobalId) {
    V local_base = nullptr;
    V local = id_lanes(Opcode::LocalId, dim, &local_base);
    V first = b_.CreateMul(group_[dim], b_.getInt32(p_.workgroup[dim]));
    if (!local->getType()->isVectorTy()) {
      made.value = b_.CreateAdd(first, local);
    } else if (local_base) {
      made.base = b_.CreateAdd(first, local_base);
      made.value = step_out(made.base, 1);
    } else {
      made.value = b_.CreateAdd(splat(first), local);
    }
  } else {
    const uint32_t x = p_.workgroup[0], y = p_.workgroup[1];
    V first = b_.CreateMul(b_.CreateTrunc(subgroup_, i32), b_.getInt32(S_), "", true, true);
    const bool one_row = uint64_t{y} * p_.workgroup[2] == 1;
    const auto quotient = [&](V v, uint32_t d) {
      return d == 1 ? v : b_.CreateUDiv(v, llvm::ConstantInt::get(v->getType(), d));
    };
    const auto remainder = [&](V v, uint32_t d) {
      return b_.CreateURem(v, llvm::ConstantInt::get(v->getType(), d));
    };
    V place = k_.rows ? first : step_out(first, 1);
    V id = dim == 0   ? (one_row ? place : remainder(place, x))
           : dim == 1 ? remainder(quotient(place, x), y)
                      : quotient(place, x * y);
    if (one_row && dim > 0) id = b_.getInt32(0);
    if (k_.rows && dim == 0) {
      made.base = id;
      made.value = step_out(id, 1);
    } else {
      made.value = is_scalar_dim(dim) || id->getType()->isVectorTy() ? id : splat(id);
    }
  }
  ids_.emplace(key, made);
  *base = made.base;
  return made.value;
}

// ---- Slots: memory for the values that blocks join on. LLVM turns them into values again.

Emitter::Slot Emitter::slot(llvm::Type* type) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(&start_->front());
  return b_.CreateAlloca(stored_type(type));
}

/// A vector of bits that crosses blocks would become one of 16-bit lanes on targets without mask
/// registers: it is stored in the width of comparison results.
llvm::Type* Emitter::stored_type(llvm::Type* type) {
  if (type != mask_type() || mask_width_ == 1) return type;
  return llvm::FixedVectorType::get(b_.getIntNTy(mask_width_), S_);
}

llvm::Value* Emitter::to_stored(V value) {
  llvm::Type* to = stored_type(value->getType());
  return to == value->getType() ? value : b_.CreateSExt(value, to);
}

llvm::Value* Emitter::from_stored(V value, llvm::Type* type) {
  if (value->getType() == type) return value;
  return b_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType()));
}

llvm::Value* Emitter::load_slot(Slot s, llvm::Type* type) {
  return from_stored(b_.CreateLoad(s->getAllocatedType(), s), type);
}

llvm::Value* Emitter::load_mask(Slot s) { return b_.CreateLoad(s->getAllocatedType(), s); }

void Emitter::store_slot(Slot s, V value) { b_.CreateStore(to_stored(value), s); }

// ---- Masks. A condition is a vector of bits. A stored combination of conditions is as wide as in
// a slot, because a vector of bits that is live across a block's end is slow.

llvm::Value* Emitter::wide(V mask) {
  return mask ? to_stored(mask) : llvm::Constant::getAllOnesValue(stored_type(mask_type()));
}

llvm::Value* Emitter::bits(V mask) { return mask ? from_stored(mask, mask_type()) : nullptr; }

llvm::Value* Emitter::mask_and(V a, V b) {
  if (!a) return b ? wide(b) : nullptr;
  if (!b) return wide(a);
  // Named in order: the evaluation order of arguments is unspecified.
  V wide_b = wide(b);
  return b_.CreateAnd(wide(a), wide_b);
}

llvm::Value* Emitter::mask_without(V a, V b) {
  V others = b_.CreateNot(wide(b));
  return b_.CreateAnd(wide(a), others);
}

llvm::Value* Emitter::mask_bits(V mask) {
  V bits = b_.CreateBitCast(mask ? this->bits(mask) : llvm::Constant::getAllOnesValue(mask_type()),
                            b_.getIntNTy(S_));
  return b_.CreateZExt(bits, b_.getInt64Ty());
}

llvm::Value* Emitter::any(V mask) {
  if (!mask) return b_.getTrue();
  V bits = b_.CreateBitCast(this->bits(mask), b_.getIntNTy(S_));
  return b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
}

llvm::Value* Emitter::all(V mask) {
  if (!mask) return b_.getTrue();
  V bits = b_.CreateBitCast(this->bits(mask), b_.getIntNTy(S_));
  return b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()));
}

}  // namespace vyre::emit_llvm
