// Conversions. Float to integer truncates and saturates, and NaN gives 0: native on AArch64. On x86
// a scalar is converted by LLVM; a vector is clamped in floats where the limits are exact, else
// corrected after the conversion.

#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/llvm/lower_ops.h"
#include "ir/eval/eval.h"

namespace vyre::emit_llvm {

llvm::Value* OpLowering::cast(Type to, Type from, llvm::Value* x) {
  llvm::Type* result = shaped(value_type(to), x);
  if (to == from) return x;
  if (to == Type::Bool) {
    llvm::Value* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
  }
  if (from == Type::Bool) {
    if (!is_float(to)) return b_.CreateZExt(x, result);
    return b_.CreateSelect(x, llvm::ConstantFP::get(result, 1.0),
                           llvm::ConstantFP::get(result, 0.0));
  }
  if (is_integer(from) && is_integer(to))
    return is_signed(from) ? b_.CreateSExtOrTrunc(x, result) : b_.CreateZExtOrTrunc(x, result);
  if (is_integer(from)) {
    const auto convert = [&](llvm::Value* v, llvm::Type* type) {
      return is_signed(from) ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
    };
    auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(result);
    // On AArch64 LLVM converts vectors of 64 bits to f32 through f64, which rounds twice.
    if (x86() || !lanes || width_of(from) != 64 || to == Type::F64) return convert(x, result);
    llvm::Value* all = llvm::PoisonValue::get(result);
    for (unsigned i = 0; i < lanes->getNumElements(); ++i)
      all = b_.CreateInsertElement(
          all, convert(b_.CreateExtractElement(x, i), lanes->getElementType()), i);
    return all;
  }
  if (is_integer(to)) return saturate(to, from, x);
  return to == Type::F64 ? b_.CreateFPExt(x, result) : b_.CreateFPTrunc(x, result);
}

llvm::Value* OpLowering::saturate(Type to, Type from, llvm::Value* x) {
  const auto natively = [&](llvm::Value* v) {
    const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {shaped(value_type(to), v), v->getType()}, {v});
  };
  if (!x86() || !x->getType()->isVectorTy()) return natively(x);
  // Only AVX-512 has vector forms for 64 bits.
  if (width_of(to) == 64 && isa_ != Isa::X86_64_V4)
    return each_lane({x}, [&](auto lane) { return natively(lane[0]); });
  return saturate_vector(to, from, x);
}

llvm::Value* OpLowering::saturate_vector(Type to, Type from, llvm::Value* x) {
  const unsigned width = width_of(to), word = width == 64 ? 64 : 32;
  const int magnitude_bits = int(width) - (is_signed(to) ? 1 : 0);
  const double above = std::ldexp(1.0, magnitude_bits);  // the first that is too large
  llvm::Type* result = shaped(value_type(to), x);
  const auto limit = [&](double number) { return splat_float(x, number); };
  llvm::Value* zero = limit(0.0);

  if (width < 32) {
    if (is_signed(to)) {
      // A NaN passes through both, is converted to 0x80000000, and truncated to 0.
      x = max_or_second(limit(-above), x);
      x = min_or_second(limit(above - 1), x);
    } else {
      x = max_or_second(x, zero);  // NaN: 0
      x = min_or_second(x, limit(above - 1));
      return b_.CreateFPToUI(x, result);  // in range, which lets LLVM pack
    }
    return b_.CreateTrunc(convert_x86(x, 32, true), result);
  }
  if (is_signed(to)) {
    llvm::Value* ordered = b_.CreateFCmpORD(x, x);
    if (from == Type::F64 &&
        width == 32) {  // the upper limit is exact; too small gives the top bit
      x = b_.CreateSelect(ordered, min_or_second(limit(above - 1), x), zero);
      return convert_x86(x, 32, true);
    }
    // A number too large or too small gives the top bit alone: right for the small one, and the
    // complement is right for the large one.
    llvm::Value* large = b_.CreateSExt(b_.CreateFCmpOGE(x, limit(above)), result);
    llvm::Value* inside = b_.CreateXor(convert_x86(x, word, true), large);
    return b_.CreateSelect(ordered, inside, llvm::ConstantInt::get(result, 0));
  }
  x = max_or_second(x, zero);                                      // negative, NaN: 0
  if (isa_ == Isa::X86_64_V4) return convert_x86(x, word, false);  // too large: all ones
  // u32 by signed conversions, before AVX-512.
  if (from ==
      Type::F64) {  // truncated first, 2^31 is taken off exactly, then the sign bit put back
    x = b_.CreateIntrinsic(llvm::Intrinsic::trunc, {x->getType()},
                           {min_or_second(x, limit(above - 1))});
    return b_.CreateXor(convert_x86(b_.CreateFSub(x, limit(above / 2)), 32, true),
                        llvm::ConstantInt::get(result, 1u << 31));
  }
  // From 2^31 on `low` is the top bit and `high` the bits below it (the subtraction is exact
  // there), or the top bit as well from 2^32 on.
  llvm::Value* low = convert_x86(x, 32, true);
  llvm::Value* high = convert_x86(b_.CreateFSub(x, limit(above / 2)), 32, true);
  llvm::Value* joined = b_.CreateOr(low, b_.CreateAnd(high, b_.CreateAShr(low, 31)));
  return b_.CreateOr(joined, b_.CreateSExt(b_.CreateFCmpOGE(x, limit(above)), result));
}

llvm::Value* OpLowering::canonical_nan(llvm::Value* x) {
  const Type type = x->getType()->getScalarSizeInBits() == 32 ? Type::F32 : Type::F64;
  const uint64_t nan = type == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
  llvm::Value* bits = splat(bits_of(x), nan);
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), b_.CreateBitCast(bits, x->getType()), x);
}

}  // namespace vyre::emit_llvm
