// Subgroup operations on vectors with one element per lane. Inactive lanes count as absent: they
// contribute the identity to a reduction, 0 to a scan, nothing to a vote, and a shuffle from them
// gives 0.

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <bit>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {
namespace {

unsigned lanes_of(const llvm::Value* v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

/// The identity of a reduction.
llvm::Constant* identity(Opcode code, Type type, llvm::Type* shape) {
  const unsigned width = shape->getScalarSizeInBits();
  const auto number = [&](const llvm::APInt& n) { return llvm::ConstantInt::get(shape, n); };
  switch (code) {
    case Opcode::SubgroupAnd: return number(llvm::APInt::getAllOnes(width));
    case Opcode::SubgroupMin:
      if (is_float(type)) return llvm::ConstantFP::getNaN(shape);
      return number(is_signed(type) ? llvm::APInt::getSignedMaxValue(width)
                                    : llvm::APInt::getAllOnes(width));
    case Opcode::SubgroupMax:
      if (is_float(type)) return llvm::ConstantFP::getNaN(shape);
      return number(is_signed(type) ? llvm::APInt::getSignedMinValue(width)
                                    : llvm::APInt::getZero(width));
    case Opcode::SubgroupAdd:
      if (is_float(type)) return llvm::ConstantFP::getZero(shape, /*Negative=*/true);
      [[fallthrough]];
    default: return llvm::Constant::getNullValue(shape);
  }
}

}  // namespace

llvm::Value* OpLowering::subgroup(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands,
                                  llvm::Value* active) {
  llvm::Value* v = operands[0];
  const unsigned lanes = lanes_of(v);
  if (v->getType()->getScalarSizeInBits() == 1) type = Type::Bool;  // votes, whatever their result
  const bool all = code == Opcode::SubgroupAll;
  llvm::Constant* absent =
      all ? llvm::Constant::getAllOnesValue(v->getType()) : identity(code, type, v->getType());
  if (active) v = b_.CreateSelect(active, v, absent);
  const auto to_all = [&](llvm::Value* scalar) { return b_.CreateVectorSplat(lanes, scalar); };
  switch (code) {
    case Opcode::SubgroupAny:
    case Opcode::SubgroupAll:
    case Opcode::SubgroupBallot: {
      llvm::Value* mask = b_.CreateBitCast(v, b_.getIntNTy(lanes));
      if (code == Opcode::SubgroupAny) return to_all(b_.CreateICmpNE(mask, splat(mask, 0)));
      if (code == Opcode::SubgroupAll) return to_all(b_.CreateICmpEQ(mask, splat(mask, ~0ull)));
      return to_all(b_.CreateZExt(mask, b_.getInt64Ty()));
    }
    case Opcode::SubgroupScanAdd: return scan_add(type, v);
    case Opcode::SubgroupBroadcast:
    case Opcode::SubgroupShuffle:
    case Opcode::SubgroupShuffleUp:
    case Opcode::SubgroupShuffleDown:
    case Opcode::SubgroupShuffleXor: return move_lanes(code, v, operands[1]);
    default: return to_all(reduce(code, type, v));
  }
}

/// The value of all lanes.
llvm::Value* OpLowering::reduce(Opcode code, Type type, llvm::Value* v) {
  namespace op = llvm::Intrinsic;
  if (type == Type::Bool) {
    llvm::Value* mask = b_.CreateBitCast(v, b_.getIntNTy(lanes_of(v)));
    if (code == Opcode::SubgroupAnd) return b_.CreateICmpEQ(mask, splat(mask, ~0ull));
    if (code == Opcode::SubgroupOr) return b_.CreateICmpNE(mask, splat(mask, 0));
    llvm::Value* wide = b_.CreateZExt(mask, b_.getInt64Ty());
    return b_.CreateTrunc(call(op::ctpop, {wide}), b_.getInt1Ty());
  }
  if (is_float(type)) {
    // Both lanes of a pair get the same value (the ops commute), so after the step with distance d
    // the lanes below d are enough: the butterfly is a tree over halves.
    const Opcode step = code == Opcode::SubgroupMin   ? Opcode::Min
                        : code == Opcode::SubgroupMax ? Opcode::Max
                                                      : Opcode::Add;
    for (unsigned d = lanes_of(v) / 2; d > 0; d /= 2)
      v = pure(step, type, type, {slice(v, 0, d), slice(v, d, d)});
    return b_.CreateExtractElement(v, uint64_t{0});
  }
  const auto choose = [&]() -> llvm::Intrinsic::ID {  // any order gives the same
    switch (code) {
      case Opcode::SubgroupMin:
        return is_signed(type) ? op::vector_reduce_smin : op::vector_reduce_umin;
      case Opcode::SubgroupMax:
        return is_signed(type) ? op::vector_reduce_smax : op::vector_reduce_umax;
      case Opcode::SubgroupAnd: return op::vector_reduce_and;
      case Opcode::SubgroupOr: return op::vector_reduce_or;
      case Opcode::SubgroupXor: return op::vector_reduce_xor;
      default: return op::vector_reduce_add;
    }
  };
  return call(choose(), {v});
}

llvm::Value* OpLowering::scan_add(Type type, llvm::Value* v) {
  const int lanes = int(lanes_of(v));
  const auto up = [&](int distance, llvm::Constant* fill) {
    llvm::SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes; ++lane)
      mask.push_back(lane < distance ? lanes : lane - distance);
    return b_.CreateShuffleVector(v, fill, mask);
  };
  // Lanes without a lower neighbour keep their value: they add the identity.
  llvm::Constant* nothing = identity(Opcode::SubgroupAdd, type, v->getType());
  for (int d = 1; d < lanes; d *= 2) v = pure(Opcode::Add, type, type, {up(d, nothing), v});
  return up(1, llvm::Constant::getNullValue(v->getType()));
}

llvm::Value* OpLowering::move_lanes(Opcode code, llvm::Value* v, llvm::Value* operand) {
  const unsigned lanes = lanes_of(v);
  const auto source = [&](uint64_t lane, uint64_t x) -> uint64_t {
    switch (code) {
      case Opcode::SubgroupShuffleUp: return x <= lane ? lane - x : lanes;
      case Opcode::SubgroupShuffleDown: return lane + x;
      case Opcode::SubgroupShuffleXor: return lane ^ x;
      default: return x;
    }
  };
  llvm::Constant* zero = llvm::Constant::getNullValue(v->getType());
  const llvm::APInt* constant = nullptr;
  if (llvm::PatternMatch::match(operand, llvm::PatternMatch::m_APInt(constant))) {
    llvm::SmallVector<int, 64> mask;
    for (unsigned lane = 0; lane < lanes; ++lane)
      mask.push_back(int(std::min<uint64_t>(source(lane, constant->getZExtValue()), lanes)));
    return b_.CreateShuffleVector(v, zero, mask);
  }
  llvm::Value* same = llvm::getSplatValue(operand);
  const bool one_register = x86() && lanes * v->getType()->getScalarSizeInBits() <= 128;
  if (same && !one_register &&
      (code == Opcode::SubgroupBroadcast || code == Opcode::SubgroupShuffle)) {
    llvm::Value* one = b_.CreateExtractElement(v, b_.CreateAnd(same, splat(same, lanes - 1)));
    llvm::Value* exists = b_.CreateICmpULT(same, splat(same, lanes));
    one = b_.CreateSelect(exists, one, llvm::Constant::getNullValue(one->getType()));
    return b_.CreateVectorSplat(lanes, one);
  }
  llvm::SmallVector<uint32_t, 64> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane) numbers.push_back(lane);
  llvm::Value* own = llvm::ConstantDataVector::get(b_.getContext(), numbers);
  llvm::Value* index = code == Opcode::SubgroupShuffleUp     ? b_.CreateSub(own, operand)
                       : code == Opcode::SubgroupShuffleDown ? b_.CreateAdd(own, operand)
                       : code == Opcode::SubgroupShuffleXor  ? b_.CreateXor(own, operand)
                                                             : operand;
  // A distance below the size cannot wrap back into the subgroup.
  llvm::Value* exists = b_.CreateICmpULT(index, splat(index, lanes));
  if (code == Opcode::SubgroupShuffleUp || code == Opcode::SubgroupShuffleDown)
    exists = b_.CreateAnd(exists, b_.CreateICmpULT(operand, splat(operand, lanes)));
  return b_.CreateSelect(exists, pick_lanes(v, b_.CreateAnd(index, splat(index, lanes - 1))), zero);
}

}  // namespace vyre::emit_llvm
