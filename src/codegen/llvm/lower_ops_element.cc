// Elements of memory. f16 conversions are instructions on AArch64 and from x86-64-v3 on (they round
// by the current mode, which is to nearest even). Below that they are integer code, because LLVM
// would call functions that the object does not link.

#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {

llvm::Type* OpLowering::element_type(Type element, unsigned lanes) const {
  llvm::Type* type = element == Type::Bool      ? b_.getInt8Ty()
                     : is_storage_only(element) ? b_.getInt16Ty()
                                                : value_type(element);
  return lanes ? llvm::FixedVectorType::get(type, lanes) : type;
}

llvm::Value* OpLowering::from_element(Type element, llvm::Value* raw) {
  switch (element) {
    case Type::Bool: return b_.CreateICmpNE(raw, splat(raw, 0));
    case Type::F16: return from_f16(raw);
    case Type::BF16: {
      llvm::Value* word = b_.CreateZExt(raw, shaped(b_.getInt32Ty(), raw));
      return b_.CreateBitCast(b_.CreateShl(word, 16), shaped(b_.getFloatTy(), raw));
    }
    default: return raw;
  }
}

llvm::Value* OpLowering::to_element(Type element, llvm::Value* value, bool visible) {
  switch (element) {
    case Type::Bool: return b_.CreateZExt(value, shaped(b_.getInt8Ty(), value));
    case Type::F16: return to_f16(value, visible);
    case Type::BF16: return to_bf16(value);
    case Type::F32:
    case Type::F64: return visible ? canonical_nan(value) : value;
    default: return value;
  }
}

llvm::Value* OpLowering::from_f16(llvm::Value* raw) {
  llvm::Type *words = shaped(b_.getInt32Ty(), raw), *floats = shaped(b_.getFloatTy(), raw);
  if (isa_ != Isa::X86_64_V2)
    return b_.CreateFPExt(b_.CreateBitCast(raw, shaped(b_.getHalfTy(), raw)), floats);
  // The exponent and fraction at their positions in an f32 are the number times 2^-112, subnormals
  // included; only infinities and NaNs have a wrong exponent.
  llvm::Value* bits = b_.CreateZExt(raw, words);
  llvm::Value* magnitude = b_.CreateShl(b_.CreateAnd(bits, 0x7fff), 13);
  llvm::Value* scaled =
      b_.CreateFMul(b_.CreateBitCast(magnitude, floats), llvm::ConstantFP::get(floats, 0x1p112));
  llvm::Value* special = b_.CreateICmpSGT(magnitude, splat(magnitude, (31 << 23) - 1));
  llvm::Value* exponent = b_.CreateSelect(special, splat(bits, 0x7f800000), splat(bits, 0));
  llvm::Value* sign = b_.CreateShl(b_.CreateAnd(bits, 0x8000), 16);
  // Named in order: the evaluation order of arguments is unspecified.
  llvm::Value* rest = b_.CreateOr(exponent, sign);
  llvm::Value* whole = b_.CreateOr(b_.CreateBitCast(scaled, words), rest);
  return b_.CreateBitCast(whole, floats);
}

llvm::Value* OpLowering::to_f16(llvm::Value* value, bool visible) {
  llvm::Type* halves = shaped(b_.getInt16Ty(), value);
  if (isa_ != Isa::X86_64_V2) {  // the canonical NaN of f32 becomes that of f16
    if (visible) value = canonical_nan(value);
    return b_.CreateBitCast(b_.CreateFPTrunc(value, shaped(b_.getHalfTy(), value)), halves);
  }
  llvm::Value* bits = bits_of(value);
  llvm::Value* magnitude = b_.CreateAnd(bits, 0x7fffffff);
  llvm::Value* sign = b_.CreateAnd(b_.CreateLShr(bits, 16), 0x8000);
  // Normal: another bias, then 13 bits are rounded away, with a carry up to infinity. 2^16 and
  // above are infinite, and stop there.
  llvm::Value* capped = call(llvm::Intrinsic::umin, {magnitude, splat(bits, 0x47800000)});
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(capped, 13), 1);
  llvm::Value* rounded = b_.CreateAdd(b_.CreateAdd(capped, splat(bits, 0xfff - (112u << 23))), odd);
  llvm::Value* normal = b_.CreateLShr(rounded, 13);
  // Below 2^-14: a multiple of 2^-24, which is the last place of 0.5.
  llvm::Value* shifted =
      b_.CreateFAdd(b_.CreateBitCast(magnitude, value->getType()), splat_float(value, 0.5));
  llvm::Value* small = b_.CreateSub(bits_of(shifted), splat(bits, 0x3f000000));
  llvm::Value* result =
      b_.CreateSelect(b_.CreateICmpULT(magnitude, splat(bits, 0x38800000)), small, normal);
  result = b_.CreateOr(result, sign);
  // The NaN must stay a NaN, so it gets its canonical bits even where they are not visible.
  result = b_.CreateSelect(b_.CreateICmpUGT(magnitude, splat(bits, 0x7f800000)),
                           splat(bits, 0x7e00), result);
  return b_.CreateTrunc(result, halves);
}

llvm::Value* OpLowering::to_bf16(llvm::Value* value) {
  llvm::Value* bits = bits_of(value);
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), 1);
  llvm::Value* rounded =
      b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(bits, splat(bits, 0x7fff)), odd), 16);
  // Rounding could carry a NaN into a number, so it gets its canonical bits even where they are not
  // visible.
  llvm::Value* result =
      b_.CreateSelect(b_.CreateFCmpUNO(value, value), splat(bits, 0x7fc0), rounded);
  return b_.CreateTrunc(result, shaped(b_.getInt16Ty(), value));
}

}  // namespace vyre::emit_llvm
