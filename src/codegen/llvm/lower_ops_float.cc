// Floats: LLVM's plain operations without any fast-math flag are IEEE 754 to nearest even, and
// never contracted. The bits of a NaN don't exist here, but a signalling NaN does (a load, a
// bitcast), and must count as a NaN like any other.

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {

llvm::Value* OpLowering::floating(Opcode code, Type, llvm::ArrayRef<llvm::Value*> operands) {
  namespace op = llvm::Intrinsic;
  llvm::Value* a = operands[0];
  llvm::Value* b = operands.size() > 1 ? operands[1] : nullptr;
  switch (code) {
    case Opcode::Add: return b_.CreateFAdd(a, b);
    case Opcode::Sub: return b_.CreateFSub(a, b);
    case Opcode::Mul: return b_.CreateFMul(a, b);
    case Opcode::Div: return b_.CreateFDiv(a, b);
    case Opcode::Neg: return b_.CreateFNeg(a);
    case Opcode::Abs: return call(op::fabs, {a});
    case Opcode::Min: return float_min_max(true, a, b);
    case Opcode::Max: return float_min_max(false, a, b);
    case Opcode::Clamp: return float_min_max(true, float_min_max(false, a, b), operands[2]);
    case Opcode::Fma: return call(op::fma, {a, b, operands[2]});
    case Opcode::Sqrt: return call(op::sqrt, {a});
    case Opcode::Rsqrt: return b_.CreateFDiv(splat_float(a, 1.0), call(op::sqrt, {a}));
    case Opcode::Floor: return call(op::floor, {a});
    case Opcode::Ceil: return call(op::ceil, {a});
    case Opcode::Round: return call(op::roundeven, {a});
    case Opcode::Trunc: return call(op::trunc, {a});
    case Opcode::IsNan: return b_.CreateFCmpUNO(a, a);
    case Opcode::IsInf:
      return b_.CreateFCmpOEQ(call(op::fabs, {a}), llvm::ConstantFP::getInfinity(a->getType()));
    case Opcode::Eq: return b_.CreateFCmpOEQ(a, b);
    case Opcode::Ne: return b_.CreateFCmpUNE(a, b);
    case Opcode::Lt: return b_.CreateFCmpOLT(a, b);
    case Opcode::Le: return b_.CreateFCmpOLE(a, b);
    case Opcode::Gt: return b_.CreateFCmpOGT(a, b);
    case Opcode::Ge: return b_.CreateFCmpOGE(a, b);
    default: llvm_unreachable("not a pure op with operands on floats");
  }
}

llvm::Value* OpLowering::float_min_max(bool min, llvm::Value* a, llvm::Value* b) {
  // The x86 instruction returns its second operand if one is NaN or both are zeros. So a constant
  // is passed second, which suffices unless it is NaN or the zero that should lose.
  const auto simple = [&](llvm::Value* v) {
    const llvm::APFloat* c = nullptr;
    if (!llvm::PatternMatch::match(v, llvm::PatternMatch::m_APFloat(c))) return false;
    return !c->isNaN() && !(c->isZero() && c->isNegative() != min);
  };
  if (x86()) {
    if (simple(a)) std::swap(a, b);
    if (simple(b)) return min ? min_or_second(a, b) : max_or_second(a, b);
  }
  if (x86() && !a->getType()->isVectorTy()) {
    // In a vector register, whose other lanes are unused: LLVM would move the comparison of
    // scalars, and then their bits, to the integer registers.
    auto* vector =
        llvm::FixedVectorType::get(a->getType(), 128 / a->getType()->getScalarSizeInBits());
    const auto widen = [&](llvm::Value* x) {
      return b_.CreateInsertElement(llvm::PoisonValue::get(vector), x, uint64_t{0});
    };
    // Named in order: the evaluation order of arguments is unspecified.
    llvm::Value* wide_b = widen(b);
    llvm::Value* wide_a = widen(a);
    return b_.CreateExtractElement(float_min_max(min, wide_a, wide_b), uint64_t{0});
  }
  llvm::Value* first = b_.CreateSelect(b_.CreateFCmpUNO(a, a), b, a);
  if (!x86()) {
    // The instruction does all of it, but for signalling NaNs: each NaN is replaced by the other.
    llvm::Value* second = b_.CreateSelect(b_.CreateFCmpUNO(b, b), a, b);
    return call(min ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, {first, second});
  }
  // `first` is a NaN only if both are; b may be one, and then loses. Equal operands have equal
  // bits, but for zeros: `or` gives -0, `and` gives +0.
  llvm::Value* chosen = min ? min_or_second(b, first) : max_or_second(b, first);
  llvm::Value* equal = b_.CreateFCmpOEQ(first, b);
  llvm::Value *bits = bits_of(chosen), *other = bits_of(b);
  llvm::Value* result =
      min ? b_.CreateOr(bits, b_.CreateSelect(equal, other, splat(other, 0)))
          : b_.CreateAnd(bits, b_.CreateSelect(equal, other, splat(other, ~0ull)));
  return b_.CreateBitCast(result, a->getType());
}

}  // namespace vyre::emit_llvm
