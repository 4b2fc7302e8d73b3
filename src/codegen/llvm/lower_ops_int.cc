// Integers and bool. LLVM's plain operations wrap; shift amounts and corner cases need more code.

#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {

llvm::Value* OpLowering::integer(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands) {
  namespace op = llvm::Intrinsic;
  llvm::Value* a = operands[0];
  llvm::Value* b = operands.size() > 1 ? operands[1] : nullptr;
  const bool is_signed = vyre::is_signed(type);
  const auto amount = [&] { return b_.CreateAnd(b, splat(b, width_of(type) - 1)); };
  switch (code) {
    case Opcode::Add: return b_.CreateAdd(a, b);
    case Opcode::Sub: return b_.CreateSub(a, b);
    case Opcode::Mul: return b_.CreateMul(a, b);
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::CeilDiv: return divide(code, type, a, b);
    case Opcode::Neg: return b_.CreateNeg(a);
    case Opcode::Min: return call(is_signed ? op::smin : op::umin, {a, b});
    case Opcode::Max: return call(is_signed ? op::smax : op::umax, {a, b});
    case Opcode::Clamp:
      return call(is_signed ? op::smin : op::umin,
                  {call(is_signed ? op::smax : op::umax, {a, b}), operands[2]});
    case Opcode::Abs: return is_signed ? call(op::abs, {a, b_.getFalse()}) : a;
    case Opcode::MulHi: return mulhi(is_signed, a, b);
    case Opcode::SatAdd: return call(is_signed ? op::sadd_sat : op::uadd_sat, {a, b});
    case Opcode::SatSub: return call(is_signed ? op::ssub_sat : op::usub_sat, {a, b});
    case Opcode::And: return b_.CreateAnd(a, b);
    case Opcode::Or: return b_.CreateOr(a, b);
    case Opcode::Xor: return b_.CreateXor(a, b);
    case Opcode::Not: return b_.CreateNot(a);
    case Opcode::Shl: return b_.CreateShl(a, amount());
    case Opcode::Shr: return is_signed ? b_.CreateAShr(a, amount()) : b_.CreateLShr(a, amount());
    case Opcode::RotL:  // funnel shifts take their amount modulo the width
      return call(op::fshl, {a, a, b});
    case Opcode::RotR: return call(op::fshr, {a, a, b});
    case Opcode::Clz:
    case Opcode::Ctz: return count_zeros(code, a);
    case Opcode::PopCount: return call(op::ctpop, {a});
    case Opcode::ReverseBits: return call(op::bitreverse, {a});
    case Opcode::Extract:
    case Opcode::Insert: return bit_field(code, type, operands);
    case Opcode::Eq: return b_.CreateICmpEQ(a, b);
    case Opcode::Ne: return b_.CreateICmpNE(a, b);
    case Opcode::Lt: return is_signed ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
    case Opcode::Le: return is_signed ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b);
    case Opcode::Gt: return is_signed ? b_.CreateICmpSGT(a, b) : b_.CreateICmpUGT(a, b);
    case Opcode::Ge: return is_signed ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
    default: llvm_unreachable("not a pure op with operands on integers");
  }
}

llvm::Value* OpLowering::mulhi(bool is_signed, llvm::Value* a, llvm::Value* b) {
  const unsigned width = a->getType()->getScalarSizeInBits();
  // Vectors have no multiplication of 64 by 64 bits; one lane is one instruction.
  if (width == 64 && a->getType()->isVectorTy())
    return each_lane({a, b}, [&](auto lane) { return mulhi(is_signed, lane[0], lane[1]); });
  llvm::Type* wide = shaped(b_.getIntNTy(2 * width), a);
  const auto extend = [&](llvm::Value* x) {
    return is_signed ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide);
  };
  // Named in order: the evaluation order of arguments is unspecified.
  llvm::Value* factor = extend(b);
  llvm::Value* product = b_.CreateMul(extend(a), factor);
  return b_.CreateTrunc(b_.CreateLShr(product, width), a->getType());
}

llvm::Value* OpLowering::count_zeros(Opcode code, llvm::Value* a) {
  const unsigned width = a->getType()->getScalarSizeInBits();
  const bool leading = code == Opcode::Clz;
  const bool native =
      !x86() || isa_ == Isa::X86_64_V4 || width != 32 || !a->getType()->isVectorTy();
  if (native) {
    const auto id = leading ? llvm::Intrinsic::ctlz : llvm::Intrinsic::cttz;
    return call(id, {a, b_.getFalse()});
  }
  // The exponent of the number as a float gives the position of its highest bit. The float must not
  // round up to the next power of two: for clz the bit below the highest is cleared (others may be,
  // too), for ctz there is only one bit. 0 becomes 0.0 with exponent 0, and 2^31 a negative number.
  llvm::Type* floats = shaped(b_.getFloatTy(), a);
  const auto exponent = [&](llvm::Value* x) {  // with the sign above it
    return b_.CreateLShr(b_.CreateBitCast(b_.CreateSIToFP(x, floats), a->getType()), 23);
  };
  if (leading) {
    llvm::Value* e = exponent(b_.CreateAnd(a, b_.CreateNot(b_.CreateLShr(a, 1))));
    llvm::Value* zeros =
        b_.CreateSub(splat(a, 127 + 31), e);  // 158 for 0; below 0 for 2^31 and above
    return call(llvm::Intrinsic::smin,
                {call(llvm::Intrinsic::smax, {zeros, splat(a, 0)}), splat(a, 32)});
  }
  llvm::Value* e = b_.CreateAnd(exponent(b_.CreateAnd(a, b_.CreateNeg(a))), 0xff);
  return call(llvm::Intrinsic::umin, {b_.CreateSub(e, splat(a, 127)), splat(a, 32)});
}

// The field goes to the top of the register and comes down again, or a mask is made the same way.
// With n = 0 a shift would be by the whole width: its amount is masked, and the result replaced.
llvm::Value* OpLowering::bit_field(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands) {
  const bool extract = code == Opcode::Extract;
  const unsigned width = width_of(type), wide = width == 64 ? 64 : 32;
  llvm::Value* v = operands[0];
  llvm::Type* work = shaped(b_.getIntNTy(wide), v);
  llvm::Value* offset = operands[extract ? 1 : 2];
  llvm::Value* n = operands[extract ? 2 : 3];
  offset = call(llvm::Intrinsic::umin, {offset, splat(offset, width)});
  n = call(llvm::Intrinsic::umin, {n, b_.CreateSub(splat(n, width), offset)});
  llvm::Value* empty = b_.CreateICmpEQ(n, splat(n, 0));
  const auto amount = [&](llvm::Value* x) {
    return b_.CreateZExt(b_.CreateAnd(x, splat(x, wide - 1)), work);
  };
  llvm::Value* down = amount(b_.CreateSub(splat(n, wide), n));
  llvm::Value* bits = b_.CreateZExt(v, work);
  if (extract) {
    llvm::Value* up = amount(b_.CreateSub(b_.CreateSub(splat(n, wide), n), offset));
    llvm::Value* top = b_.CreateShl(bits, up);
    llvm::Value* field = is_signed(type) ? b_.CreateAShr(top, down) : b_.CreateLShr(top, down);
    return b_.CreateSelect(empty, splat(v, 0), b_.CreateTrunc(field, v->getType()));
  }
  llvm::Value* low = b_.CreateLShr(llvm::Constant::getAllOnesValue(work), down);
  llvm::Value* mask = b_.CreateShl(low, amount(offset));
  llvm::Value* place = amount(offset);
  llvm::Value* x = b_.CreateShl(b_.CreateZExt(operands[1], work), place);
  llvm::Value* merged = b_.CreateXor(bits, b_.CreateAnd(b_.CreateXor(bits, x), mask));
  return b_.CreateSelect(empty, v, b_.CreateTrunc(merged, v->getType()));
}

}  // namespace vyre::emit_llvm
