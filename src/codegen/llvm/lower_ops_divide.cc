// Integer division. x/0 is all ones (unsigned) or 0 (signed), x%0 is 0, MIN/-1 is MIN, MIN%-1 is 0.
//
// No vector unit divides integers, and LLVM would do it lane by lane. Up to 32 bits the quotient of
// floats is exact: let 0 <= a < 2^w, 1 <= b < 2^w be integers (for signed types the magnitudes; the
// float division treats the sign apart), p the precision of the float (24 for w <= 16, 53 for
// w = 32) and x = a/b. If x is an integer it is representable, and so is the float quotient. Else
// the next integer above x is at least 1/b away, while rounding moves x by at most x * 2^-p <
// 2^(w-p) / b < 1/b; and rounding is monotone, so it never goes below the integer under x. So the
// truncated float quotient is the integer quotient.

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {

llvm::Value* OpLowering::divide(Opcode code, Type type, llvm::Value* a, llvm::Value* b) {
  const llvm::APInt* divisor = nullptr;
  if (llvm::PatternMatch::match(b, llvm::PatternMatch::m_APInt(divisor)))
    return divide_by_constant(code, type, a, *divisor);
  if (!a->getType()->isVectorTy()) return divide_natively(code, type, a, b);
  if (width_of(type) == 64)
    return each_lane({a, b},
                     [&](auto lane) { return divide_natively(code, type, lane[0], lane[1]); });

  llvm::Value* quotient = quotient_by_floats(type, a, b, code == Opcode::Rem);
  if (code == Opcode::Div) return quotient;
  llvm::Value* zero = splat(a, 0);
  llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, b));  // a if b is 0
  // The remainder of a divisor below 2 is 0 however wrong the quotient is.
  llvm::Value* none = is_signed(type) ? b_.CreateICmpEQ(b, zero) : b_.CreateICmpULT(b, splat(b, 2));
  rest = b_.CreateSelect(none, zero, rest);
  if (code == Opcode::Rem) return rest;
  llvm::Value* up = b_.CreateICmpNE(rest, zero);
  if (is_signed(type)) up = b_.CreateAnd(up, b_.CreateICmpSGE(b_.CreateXor(rest, b), zero));
  return b_.CreateSub(quotient, b_.CreateSExt(up, a->getType()));
}

/// LLVM multiplies instead.
llvm::Value* OpLowering::divide_by_constant(Opcode code, Type type, llvm::Value* a,
                                            const llvm::APInt& divisor) {
  const bool is_signed = vyre::is_signed(type);
  llvm::Value* zero = splat(a, 0);
  llvm::Constant* d = llvm::ConstantInt::get(a->getType(), divisor);
  if (divisor.isZero())
    return is_signed || code == Opcode::Rem ? zero : llvm::Constant::getAllOnesValue(a->getType());
  if (is_signed && divisor.isAllOnes()) return code == Opcode::Rem ? zero : b_.CreateNeg(a);
  llvm::Value* quotient = is_signed ? b_.CreateSDiv(a, d) : b_.CreateUDiv(a, d);
  if (code == Opcode::Div) return quotient;
  llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, d));
  if (code == Opcode::Rem) return rest;
  llvm::Value* up = !is_signed             ? b_.CreateICmpNE(rest, zero)
                    : divisor.isNegative() ? b_.CreateICmpSLT(rest, zero)
                                           : b_.CreateICmpSGT(rest, zero);
  return b_.CreateSub(quotient, b_.CreateSExt(up, a->getType()));
}

/// Scalars. The divisor is made safe first, so that nothing traps.
llvm::Value* OpLowering::divide_natively(Opcode code, Type type, llvm::Value* a, llvm::Value* b) {
  llvm::Value *zero = splat(a, 0), *one = splat(a, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed(type)) {
    llvm::Value* safe = b_.CreateSelect(by_zero, one, b);
    if (code == Opcode::Rem) return b_.CreateURem(a, safe);  // x % 1 is 0
    llvm::Value* quotient = b_.CreateUDiv(a, safe);
    if (code == Opcode::CeilDiv) {
      llvm::Value* up = b_.CreateICmpNE(b_.CreateMul(quotient, safe), a);
      quotient = b_.CreateAdd(quotient, b_.CreateZExt(up, a->getType()));
    }
    return b_.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(a->getType()), quotient);
  }
  llvm::Value* minus_one = b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(a->getType()));
  llvm::Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, minus_one), one, b);
  if (code == Opcode::Rem) return b_.CreateSRem(a, safe);  // x % 1 is 0
  llvm::Value* quotient = b_.CreateSDiv(a, safe);
  if (code == Opcode::CeilDiv) {
    llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, safe));
    // Named in order: the evaluation order of arguments is unspecified.
    llvm::Value* same_sign = b_.CreateICmpSGE(b_.CreateXor(rest, safe), zero);
    llvm::Value* up = b_.CreateAnd(b_.CreateICmpNE(rest, zero), same_sign);
    quotient = b_.CreateAdd(quotient, b_.CreateZExt(up, a->getType()));
  }
  // Divided by 1: -a is right for -1, MIN included.
  quotient = b_.CreateSelect(minus_one, b_.CreateNeg(a), quotient);
  return b_.CreateSelect(by_zero, zero, quotient);
}

/// Vectors of up to 32 bits. `for_rest`: the quotient is unspecified for divisors whose remainder
/// is 0 (0 and, for unsigned types, 1).
llvm::Value* OpLowering::quotient_by_floats(Type type, llvm::Value* a, llvm::Value* b,
                                            bool for_rest) {
  const bool is_signed = vyre::is_signed(type), narrow = width_of(type) < 32;
  llvm::Type* floats = shaped(narrow ? b_.getFloatTy() : b_.getDoubleTy(), a);
  llvm::Type* words = shaped(b_.getInt32Ty(), a);
  const auto to_float = [&](llvm::Value* x) {
    if (narrow) {  // by way of 32 bits, where conversion is one instruction
      x = is_signed ? b_.CreateSExt(x, words) : b_.CreateZExt(x, words);
      return b_.CreateSIToFP(x, floats);
    }
    return is_signed ? b_.CreateSIToFP(x, floats) : b_.CreateUIToFP(x, floats);
  };
  // x/0 is an infinity or NaN, never a quotient.
  llvm::Value* divisor = to_float(b);
  llvm::Value* ratio = b_.CreateFDiv(to_float(a), divisor);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, splat(b, 0));

  if (!x86()) {  // saturating conversion is native there; NaN gives 0
    llvm::Type* result = a->getType();
    if (is_signed) {
      llvm::Type* wider = narrow ? words : shaped(b_.getInt64Ty(), a);
      llvm::Value* quotient =
          b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {wider, floats}, {ratio});
      quotient = b_.CreateTrunc(quotient, result);  // 2^31 and 2^15 wrap to MIN
      return b_.CreateSelect(by_zero, splat(a, 0), quotient);
    }
    llvm::Value* quotient =
        b_.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {words, floats}, {ratio});
    llvm::Value* ones = b_.CreateSExt(by_zero, result);
    return b_.CreateOr(b_.CreateTrunc(quotient, result), ones);
  }
  if (narrow) {
    // A quotient that does not fit into 32 bits gives 0x80000000, whose low bits are the 0 of a
    // signed x/0.
    llvm::Value* quotient = b_.CreateTrunc(convert_x86(ratio, 32, true), a->getType());
    return is_signed || for_rest ? quotient
                                 : b_.CreateOr(quotient, b_.CreateSExt(by_zero, a->getType()));
  }
  if (is_signed) {  // 2^31, of MIN / -1, gives 0x80000000 as it must
    llvm::Value* quotient = convert_x86(ratio, 32, true);
    return for_rest ? quotient : b_.CreateSelect(by_zero, splat(a, 0), quotient);
  }
  if (isa_ == Isa::X86_64_V4) return convert_x86(ratio, 32, false);  // x/0 gives all ones
  // A quotient of 2^31 or more has a divisor below 2. There the signed conversion gives 0x80000000,
  // and the result is a (divisor 1) or all ones (0): a | (b - 1). The blend reads only the sign
  // bit.
  llvm::Value* quotient = convert_x86(ratio, 32, true);
  if (for_rest) return quotient;
  llvm::Value* large = b_.CreateOr(a, b_.CreateSub(b, splat(b, 1)));
  return b_.CreateSelect(b_.CreateICmpSLT(quotient, splat(a, 0)), large, quotient);
}

}  // namespace vyre::emit_llvm
