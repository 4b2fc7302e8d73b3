// Loads. Out of bounds gives zero; inactive lanes may read any element inside.
//
// The stride of the index selects the code. The same index for all lanes: one scalar load.
// Neighbours: one vector load after one test that all of it is inside. Otherwise: a load per lane
// from an index that is clamped to the buffer, and zero where it had to be clamped.

#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {

namespace {
constexpr unsigned max_inline_lanes = 32;  // of a gather; one with more lanes is a function
}

Emitter::Place Emitter::place_of(OpId id, uint32_t plus) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const Buffer& buffer = p_.buffers[ref.buffer];
  const bool by_byte = o.code == Opcode::LoadAs;
  Place p;
  p.buffer = ref.buffer;
  p.element = by_byte ? o.type : buffer.element;
  p.raw = low_.element_type(p.element);
  p.size = size_of(p.element);
  p.scale = by_byte ? 1 : p.size;
  p.align = by_byte ? 1 : p.size;
  p.plus = plus;
  p.proved = ref.in_bounds && !speculating_;
  p.is_constant =
      buffer.role == Role::In || buffer.role == Role::Uniform || buffer.role == Role::Table;
  p.racy = is_parameter(buffer.role) && !p.is_constant;
  p.limit = count_of(ref.buffer);
  if (by_byte) {
    V& limit = byte_limits_[{ref.buffer, p.size}];
    if (!is_parameter(buffer.role)) {
      const uint64_t bytes = array_count(ref.buffer) * size_of(buffer.element);
      limit = b_.getInt64(bytes < p.size ? 0 : bytes - p.size + 1);
    }
    if (!limit)
      limit = at_start([&] {
        V all = b_.CreateMul(count_of(ref.buffer), b_.getInt64(size_of(buffer.element)));
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, all, b_.getInt64(p.size - 1));
      });
    p.limit = limit;
  }
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(p.limit)) p.known = c->getZExtValue();
  if (buffer.role != Role::Private) {
    p.pointer = pointer_of(ref.buffer);
    if (by_byte && p.size > 1 && !p.known) {
      // Too short for one value is as good as empty.
      V& start = limits_[{p.limit, 0, 0, false}];
      if (!start)
        start = at_start([&] {
          return b_.CreateSelect(b_.CreateICmpEQ(p.limit, b_.getInt64(0)), zeros(),
                                 pointer_of(ref.buffer));
        });
      p.pointer = start;
    }
    return p;
  }
  p.is_private = true;
  if (!array_base_[ref.buffer]) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(stretch_entry_->getTerminator());
    V first = arena_at(array_offset_[ref.buffer]);
    array_base_[ref.buffer] =
        k_.phased ? b_.CreateGEP(b_.getInt8Ty(), first,
                                 b_.CreateMul(subgroup_, b_.getInt64(private_stride_)))
                  : first;
  }
  p.pointer = array_base_[ref.buffer];
  if (lane_major_[ref.buffer]) {
    p.lane_bytes = (array_count(ref.buffer) + 1) * size_of(buffer.element);
  } else {
    p.lane_bytes = p.size;
    p.scale = p.size * S_;
  }
  return p;
}

void Emitter::load_op(OpId id) {
  const auto results = p_.results(id);
  for (uint32_t k = 0; k < results.size(); ++k) {
    const Place place = place_of(id, k);
    V raw = load_raw(place, p_.operand(id, 0));
    if (place.racy) raw = b_.CreateFreeze(raw);
    V value = low_.from_element(place.element, raw);
    if (!is_uniform(results[k]) && !value->getType()->isVectorTy()) value = splat(value);
    set(results[k], value);
  }
}

llvm::Value* Emitter::load_raw(const Place& p, ValueId index) {
  if (p.known && *p.known == 0)
    return llvm::Constant::getNullValue(
        is_uniform(index) && !p.is_private ? p.raw : llvm::FixedVectorType::get(p.raw, S_));
  if (p.is_private) return load_private(p, index);
  if (is_uniform(index)) return load_scalar(p, index);
  if (is_dense(p, index)) return load_dense(p, index);
  if (const auto stride = run_stride(p, index)) return load_run(p, index, *stride);
  return load_gather(p, index);
}

// ---- Indices.

/// The index as a number of 64 bits: an index that is out of range stays out of range.
llvm::Value* Emitter::index64(const Place& p, ValueId index, bool scalar) {
  return to_index64(p, p_.type(index), scalar ? base_of(index) : lanes_of(index));
}

llvm::Value* Emitter::to_index64(const Place& p, Type t, V value) {
  llvm::Type* wide = value->getType()->getWithNewType(b_.getInt64Ty());
  value = is_signed(t) ? b_.CreateSExt(value, wide) : b_.CreateZExt(value, wide);
  if (p.plus == 0) return value;
  V plus = llvm::ConstantInt::get(wide, p.plus);
  if (t == Type::U64) return b_.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, value, plus);
  return b_.CreateAdd(value, plus);
}

/// True if the index accesses neighbouring elements.
bool Emitter::is_dense(const Place& p, ValueId index) {
  const auto stride = shapes_.stride(index);
  if (p.plus != 0) return false;
  return stride && *stride > 0 && static_cast<uint64_t>(*stride) * p.scale == p.size;
}

/// The limit for lane 0 of an access in which the last lane's index is `span` more: inside, and
/// without wrapping in the index's type.
llvm::Value* Emitter::dense_limit(const Place& p, Type index, uint64_t span) {
  const unsigned bits = width_of(index) - is_signed(index);
  V& made = limits_[{p.limit, span, bits, true}];
  if (made) return made;
  return made = at_start([&] {
           V most = p.limit;
           if (bits < 63)
             most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most,
                                             b_.getInt64((uint64_t{1} << bits)));
           return b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, most, b_.getInt64(span));
         });
}

/// The largest index that is inside and that its type can hold; 0 if nothing is inside.
llvm::Value* Emitter::last_index(const Place& p, Type index) {
  const unsigned bits = width_of(index) - is_signed(index);
  V& made = limits_[{p.limit, width_of(index), bits, false}];
  if (made) return made;
  return made = at_start([&] {
           V last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, p.limit, b_.getInt64(1));
           last =
               b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, last, b_.getInt64(low_mask(bits)));
           return b_.CreateTrunc(last, b_.getIntNTy(width_of(index)));
         });
}

/// Returns, for each lane, whether its index is inside. In an empty buffer index 0 counts as
/// inside. `clamped`: the index, clamped to the buffer; of its type, or of 64 bits if p.plus is
/// added.
llvm::Value* Emitter::inside(const Place& p, ValueId index, V* clamped) {
  const Type t = p.plus == 0 ? p_.type(index) : Type::U64;
  V at = p.plus == 0 ? lanes_of(index) : index64(p, index, false);
  *clamped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, splat(last_index(p, t)));
  return b_.CreateICmpEQ(*clamped, at);
}

/// True if the whole access is inside, for all lanes.
bool Emitter::surely_inside(const Place& p, ValueId index) {
  if (active_ || speculating_) return false;
  if (p.proved) return true;
  return within_limit(p, index);
}

/// True if the limit of the index proves that every active lane is below the length.
bool Emitter::within_limit(const Place& p, ValueId index) {
  const auto limit = shapes_.limit(index);
  return limit && p.known && *limit < *p.known && p.plus < *p.known - *limit;
}

llvm::Value* Emitter::address(const Place& p, V index) {
  V offset =
      p.scale == 1 ? index : b_.CreateMul(index, llvm::ConstantInt::get(index->getType(), p.scale));
  return b_.CreateGEP(b_.getInt8Ty(), p.pointer, offset);
}

llvm::Value* Emitter::load_at(const Place& p, V address, llvm::Type* type) {
  llvm::LoadInst* load = b_.CreateAlignedLoad(type, address, llvm::Align(p.align));
  set_noalias(load, p.buffer);
  if (p.is_constant)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
  return load;
}

// ---- Kinds of loads.

llvm::Value* Emitter::load_scalar(const Place& p, ValueId index) {
  V at = index64(p, index, true);
  // The proof holds for lanes that execute the access, and under a mask there may be none.
  if ((p.proved && !active_) || within_limit(p, index)) return load_at(p, address(p, at), p.raw);
  V is_inside = b_.CreateICmpULT(at, p.limit);
  V moved = b_.CreateSelect(is_inside, at, b_.getInt64(0));
  V value = load_at(p, address(p, moved), p.raw);
  return b_.CreateSelect(is_inside, value, llvm::Constant::getNullValue(p.raw));
}

/// True if a vector access can leave out lanes without a fault at their addresses.
bool Emitter::has_masked_access(llvm::Type* raw) const {
  if (S_ == 1) return false;
  if (options_.isa == Isa::X86_64_V4) return true;
  return options_.isa == Isa::X86_64_V3 && raw->getScalarSizeInBits() >= 32;
}

/// The parts of a run of neighbours that are inside: for each, the index of lane 0 as a number, and
/// its lanes, of those in `mask`. There are two where the index may wrap in its type, or begins
/// below 0. A part without lanes begins at 0, because masked accesses far outside the buffer are
/// slow even if no lane is active. Made of scalars only, so that the vector of indices is not
/// needed.
llvm::SmallVector<std::pair<llvm::Value*, llvm::Value*>, 2> Emitter::split_run(const Place& p,
                                                                               ValueId index,
                                                                               V base, V mask) {
  const Type t = p_.type(index);
  const unsigned stride = p.size / p.scale;
  const uint64_t span = uint64_t{stride} * (S_ - 1);
  llvm::SmallVector<std::pair<V, V>, 2> parts;
  V zero = b_.getInt64(0);
  V limit = dense_limit(p, t, 0);
  const auto add = [&](V some, V lanes, V first) {
    lanes = b_.CreateAnd(lanes, splat(some));
    if (mask) lanes = b_.CreateAnd(lanes, mask);
    parts.emplace_back(b_.CreateSelect(some, first, zero), lanes);
  };
  const auto narrow = [&](V count) {
    V most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, b_.getInt64(1 << 20));
    return splat(b_.CreateTrunc(most, b_.getInt32Ty()));
  };
  V steps = iota(b_.getInt32Ty(), stride);
  V left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, limit, base);
  // Named in order: the evaluation order of arguments is unspecified.
  V before_limit = b_.CreateICmpULT(steps, narrow(left));
  add(b_.CreateICmpNE(left, zero), before_limit, base);

  const OpId def = p_.values[index].def;
  if (def != none && is_on_demand(p_.op(def).code)) return parts;  // ids do not wrap
  const bool wraps = is_unsigned(t) && width_of(t) < 64;
  V before = wraps ? b_.CreateSub(base, b_.getInt64(uint64_t{1} << width_of(t))) : base;
  V gap = b_.CreateSub(zero, before);
  V not_empty = b_.CreateICmpNE(limit, zero);
  V some = b_.CreateAnd(b_.CreateICmpULE(gap, b_.getInt64(span)), not_empty);
  V from_zero = b_.CreateSub(steps, narrow(gap));
  add(some, b_.CreateICmpULT(from_zero, narrow(limit)), before);
  return parts;
}

llvm::Value* Emitter::load_dense(const Place& p, ValueId index) {
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  V base = index64(p, index, true);
  if (surely_inside(p, index)) return load_at(p, address(p, base), type);
  const uint64_t span = static_cast<uint64_t>(*shapes_.stride(index)) * (S_ - 1);
  V is_inside = b_.CreateICmpULT(base, dense_limit(p, p_.type(index), span));
  BB fast = block("inside");
  BB slow = block("over");
  BB end = block("loaded");
  branch(is_inside, fast, slow, 1);
  enter(fast);
  V whole = load_at(p, address(p, base), type);
  b_.CreateBr(end);
  enter(slow);
  V parts = nullptr;
  if (has_masked_access(p.raw) && wraps_once(p_.type(index), span)) {
    parts = llvm::Constant::getNullValue(type);
    for (const auto& [first, mask] : split_run(p, index, base, nullptr)) {
      llvm::CallInst* part =
          b_.CreateMaskedLoad(type, address(p, first), llvm::Align(p.align), mask, parts);
      set_noalias(part, p.buffer);
      parts = part;
    }
  } else {
    llvm::CallInst* call = b_.CreateCall(gather_run_function(p, p_.type(index)),
                                         {p.pointer, base, p.limit, wrap_bits(p_.type(index))});
    call->setCallingConv(llvm::CallingConv::Fast);
    parts = call;
  }
  b_.CreateBr(end);
  enter(end);
  llvm::PHINode* value = b_.CreatePHI(type, 2);
  value->addIncoming(whole, fast);
  value->addIncoming(parts, slow);
  return value;
}

bool Emitter::has_native_gather(const Place& p) const {
  return options_.isa == Isa::X86_64_V4 && !p.is_private && p.size >= 4 && S_ >= 8;
}

/// Loads elements at indices that are all inside. Uses the gather instruction where it takes whole
/// registers: on current machines it is as slow as scalar loads, but takes a hundredth of the code
/// to compile.
llvm::Value* Emitter::gather(const Place& p, V index) {
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  llvm::Type* i64 = b_.getInt64Ty();
  if (has_native_gather(p)) {
    V at = b_.CreateZExt(index, index->getType()->getWithNewType(i64));
    if (p.scale != 1) at = b_.CreateMul(at, llvm::ConstantInt::get(at->getType(), p.scale));
    llvm::CallInst* call = b_.CreateMaskedGather(type, b_.CreateGEP(b_.getInt8Ty(), p.pointer, at),
                                                 llvm::Align(p.align));
    set_noalias(call, p.buffer);
    return call;
  }
  V value = llvm::PoisonValue::get(type);
  for (unsigned l = 0; l < S_; ++l) {
    V at = b_.CreateZExt(b_.CreateExtractElement(index, l), i64);
    Place lane = p;
    if (p.is_private)
      lane.pointer = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p.pointer, p.lane_bytes * l);
    value = b_.CreateInsertElement(value, load_at(lane, address(lane, at), p.raw), l);
  }
  return value;
}

llvm::Value* Emitter::load_gather(const Place& p, ValueId index) {
  if (p.plus == 0 && surely_inside(p, index)) return gather(p, lanes_of(index));
  if (S_ > max_inline_lanes && !p.is_private) return call_gather(p, index);
  V clamped = nullptr;
  V is_inside = inside(p, index, &clamped);
  V value = gather(p, clamped);
  if (p.proved) return value;
  return b_.CreateSelect(is_inside, value, llvm::Constant::getNullValue(value->getType()));
}

/// A gather out of line.
llvm::Value* Emitter::call_gather(const Place& p, ValueId index) {
  const Type t = p.plus == 0 ? p_.type(index) : Type::U64;
  V at = p.plus == 0 ? lanes_of(index) : index64(p, index, false);
  V last = last_index(p, t);
  llvm::CallInst* call = b_.CreateCall(gather_function(p, at->getType()), {p.pointer, at, last});
  call->setCallingConv(llvm::CallingConv::Fast);
  return call;
}

/// Loads from the arrays of the lanes, one array per lane. A vector load if all lanes load the same
/// element and their arrays are interleaved.
llvm::Value* Emitter::load_private(const Place& p, ValueId index) {
  if (!is_uniform(index) || lane_major_[p.buffer]) return load_gather(p, index);
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  V at = index64(p, index, true);
  if ((p.proved && !active_) || within_limit(p, index)) return load_at(p, address(p, at), type);
  V is_inside = b_.CreateICmpULT(at, p.limit);
  V moved = b_.CreateSelect(is_inside, at, b_.getInt64(0));
  V value = load_at(p, address(p, moved), type);
  return b_.CreateSelect(is_inside, value, llvm::Constant::getNullValue(type));
}

// ---- Functions.

std::string Emitter::type_name(llvm::Type* type) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out);
  return text;
}

llvm::Function* Emitter::helper(const std::string& name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Type*> args, bool* is_new) {
  llvm::Function*& f = helpers_[name];
  *is_new = f == nullptr;
  if (f) return f;
  f = llvm::Function::Create(llvm::FunctionType::get(result, args, false),
                             llvm::Function::InternalLinkage, name, m_);
  f->setCallingConv(llvm::CallingConv::Fast);
  f->addFnAttr("target-cpu", f_->getFnAttribute("target-cpu").getValueAsString());
  f->addFnAttr("target-features", f_->getFnAttribute("target-features").getValueAsString());
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::NoInline);
  return f;
}

/// The bits that an index of 64 bits has more than its type.
llvm::Value* Emitter::wrap_bits(Type index) { return b_.getInt64(64 - width_of(index)); }

/// The index of a lane in a run of neighbours, wrapped as its type does, as a number.
llvm::Value* Emitter::run_index(llvm::IRBuilder<>& b, const Place& p, V first, V lane, V wrap,
                                bool with_sign) {
  V step = b.CreateMul(lane, b.getInt64(p.size / p.scale));
  V high = b.CreateShl(b.CreateAdd(first, step), wrap);
  return with_sign ? b.CreateAShr(high, wrap) : b.CreateLShr(high, wrap);
}

/// (pointer, indices, last index inside) → elements; zero where an index is above the last.
llvm::Function* Emitter::gather_function(const Place& p, llvm::Type* index) {
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  bool is_new = false;
  llvm::Function* f =
      helper("gather_" + type_name(p.raw) + "_" + type_name(index->getScalarType()) +
                 (p.scale == 1 && p.size > 1 ? "_bytes" : ""),
             type, {b_.getPtrTy(), index, index->getScalarType()}, &is_new);
  if (!is_new) return f;
  f->setOnlyReadsMemory();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(c_, "", f));
  V last = b.CreateVectorSplat(S_, f->getArg(2));
  V clamped = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, f->getArg(1), last);
  V value = llvm::PoisonValue::get(type);
  for (unsigned l = 0; l < S_; ++l) {
    V at = b.CreateZExt(b.CreateExtractElement(clamped, l), b.getInt64Ty());
    V from = b.CreateGEP(b.getInt8Ty(), f->getArg(0), b.CreateMul(at, b.getInt64(p.scale)));
    V element = b.CreateAlignedLoad(p.raw, from, llvm::Align(p.align));
    value = b.CreateInsertElement(value, element, l);
  }
  V is_inside = b.CreateICmpEQ(clamped, f->getArg(1));
  b.CreateRet(b.CreateSelect(is_inside, value, llvm::Constant::getNullValue(type)));
  return f;
}

/// (pointer, first index, limit, wrap_bits()) → the elements of a run of neighbours; zero where an
/// index is not below the limit.
llvm::Function* Emitter::gather_run_function(const Place& p, Type index_type) {
  llvm::Type* type = llvm::FixedVectorType::get(p.raw, S_);
  llvm::Type* i64 = b_.getInt64Ty();
  bool is_new = false;
  const bool with_sign = is_signed(index_type);
  llvm::Function* f =
      helper("gather_" + type_name(p.raw) + (p.scale == 1 && p.size > 1 ? "_bytes" : "") +
                 (with_sign ? "_signed_run" : "_run"),
             type, {b_.getPtrTy(), i64, i64, i64}, &is_new);
  if (!is_new) return f;
  f->setOnlyReadsMemory();
  BB start = llvm::BasicBlock::Create(c_, "", f);
  BB loop = llvm::BasicBlock::Create(c_, "lane", f);
  BB read = llvm::BasicBlock::Create(c_, "read", f);
  BB next = llvm::BasicBlock::Create(c_, "next", f);
  BB end = llvm::BasicBlock::Create(c_, "end", f);
  llvm::IRBuilder<> b(start);
  V result = b.CreateAlloca(type);
  b.CreateStore(llvm::Constant::getNullValue(type), result);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* lane = b.CreatePHI(i64, 2);
  lane->addIncoming(b.getInt64(0), start);
  V index = run_index(b, p, f->getArg(1), lane, f->getArg(3), with_sign);
  b.CreateCondBr(b.CreateICmpULT(index, f->getArg(2)), read, next);
  b.SetInsertPoint(read);
  V from = b.CreateGEP(b.getInt8Ty(), f->getArg(0), b.CreateMul(index, b.getInt64(p.scale)));
  V to = b.CreateGEP(p.raw, result, lane);
  b.CreateStore(b.CreateAlignedLoad(p.raw, from, llvm::Align(p.align)), to);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  V following = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(S_)), loop, end);
  b.SetInsertPoint(end);
  b.CreateRet(b.CreateLoad(type, result));
  return f;
}

}  // namespace vyre::emit_llvm
