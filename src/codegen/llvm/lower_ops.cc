#include "codegen/llvm/lower_ops.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace vyre::emit_llvm {
namespace {

unsigned lanes_of(const llvm::Value* v) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return type ? type->getNumElements() : 0;
}

llvm::Type* with_lanes(llvm::Type* type, unsigned lanes) {
  return lanes ? llvm::FixedVectorType::get(type, lanes) : type;
}

}  // namespace

llvm::Type* OpLowering::value_type(Type type, unsigned lanes) const {
  switch (type) {
    case Type::Bool: return with_lanes(b_.getInt1Ty(), lanes);
    case Type::F32:
    case Type::F16:
    case Type::BF16: return with_lanes(b_.getFloatTy(), lanes);
    case Type::F64: return with_lanes(b_.getDoubleTy(), lanes);
    case Type::Void: return b_.getVoidTy();
    default: return with_lanes(b_.getIntNTy(width_of(type)), lanes);
  }
}

llvm::Value* OpLowering::constant(Type type, uint64_t bits) const {
  llvm::Constant* number = b_.getIntN(type == Type::Bool ? 1 : width_of(type), bits);
  return is_float(type) ? llvm::ConstantExpr::getBitCast(number, value_type(type)) : number;
}

llvm::Value* OpLowering::pure(Opcode code, Type type, Type source,
                              llvm::ArrayRef<llvm::Value*> operands) {
  // A vector of one lane is computed as a scalar; LLVM's vector legalizer and the instructions
  // below do not support it.
  if (lanes_of(operands[0]) == 1) {
    llvm::SmallVector<llvm::Value*, 4> scalars;
    for (llvm::Value* v : operands) scalars.push_back(b_.CreateExtractElement(v, uint64_t{0}));
    llvm::Value* result = pure(code, type, source, scalars);
    auto* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(result->getType(), 1));
    return b_.CreateInsertElement(vector, result, uint64_t{0});
  }
  switch (code) {
    case Opcode::Select: return b_.CreateSelect(operands[0], operands[1], operands[2]);
    case Opcode::Cast: return cast(type, source, operands[0]);
    case Opcode::Bitcast: {
      llvm::Value* x = operands[0];
      if (is_float(source) && is_integer(type)) x = canonical_nan(x);
      return b_.CreateBitCast(x, shaped(value_type(type), x));
    }
    default: break;
  }
  // If the result is a bool, T is the type of the operands.
  const Type t = info(code).result == 'B' && source != Type::Void ? source : type;
  return is_float(t) ? floating(code, t, operands) : integer(code, t, operands);
}

llvm::Type* OpLowering::shaped(llvm::Type* type, const llvm::Value* like) const {
  return with_lanes(type, lanes_of(like));
}

llvm::Constant* OpLowering::splat(const llvm::Value* like, uint64_t bits) const {
  const unsigned width = like->getType()->getScalarSizeInBits();
  return llvm::ConstantInt::get(like->getType(), llvm::APInt(64, bits).zextOrTrunc(width));
}

llvm::Constant* OpLowering::splat_float(const llvm::Value* like, double number) const {
  return llvm::ConstantFP::get(like->getType(), number);
}

llvm::Value* OpLowering::bits_of(llvm::Value* x) {
  return b_.CreateBitCast(x, shaped(b_.getIntNTy(x->getType()->getScalarSizeInBits()), x));
}

llvm::Value* OpLowering::call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands) {
  return b_.CreateIntrinsic(id, {operands[0]->getType()}, operands);
}

llvm::Value* OpLowering::min_or_second(llvm::Value* a, llvm::Value* b) {
  return b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b);
}

llvm::Value* OpLowering::max_or_second(llvm::Value* a, llvm::Value* b) {
  return b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b);
}

llvm::Value* OpLowering::slice(llvm::Value* vector, unsigned first, unsigned count) {
  const unsigned lanes = lanes_of(vector);
  if (first == 0 && count == lanes) return vector;
  llvm::SmallVector<int, 64> mask;
  for (unsigned i = first; i < first + count; ++i) mask.push_back(i < lanes ? int(i) : -1);
  return b_.CreateShuffleVector(vector, mask);
}

llvm::Value* OpLowering::concat(llvm::ArrayRef<llvm::Value*> parts) {
  llvm::SmallVector<llvm::Value*, 16> level(parts);
  while (level.size() > 1) {
    const unsigned lanes = lanes_of(level[0]);
    llvm::SmallVector<int, 64> mask;
    for (unsigned i = 0; i < 2 * lanes; ++i) mask.push_back(int(i));
    llvm::SmallVector<llvm::Value*, 16> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(b_.CreateShuffleVector(level[i], level[i + 1], mask));
    level = std::move(next);
  }
  return level[0];
}

llvm::Value* OpLowering::each_lane(
    llvm::ArrayRef<llvm::Value*> operands,
    llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> fn) {
  const unsigned lanes = lanes_of(operands[0]);
  if (lanes == 0) return fn(operands);
  llvm::Value* result = nullptr;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::SmallVector<llvm::Value*, 4> scalars;
    for (llvm::Value* v : operands) scalars.push_back(b_.CreateExtractElement(v, lane));
    llvm::Value* one = fn(scalars);
    if (!result) result = llvm::PoisonValue::get(with_lanes(one->getType(), lanes));
    result = b_.CreateInsertElement(result, one, lane);
  }
  return result;
}

llvm::Value* OpLowering::convert_x86(llvm::Value* x, unsigned bits, bool is_signed) {
  using namespace llvm::Intrinsic;
  struct Form {
    unsigned from, to;  // bits
    bool is_signed;
    bool avx512;
    unsigned lanes;  // the operand's
    ID id;
  };
  // The widest form first; the last one of a kind takes any smaller vector.
  static constexpr Form forms[] = {
      {32, 32, true, true, 16, x86_avx512_mask_cvttps2dq_512},
      {32, 32, true, false, 8, x86_avx_cvtt_ps2dq_256},
      {32, 32, true, false, 4, x86_sse2_cvttps2dq},
      {32, 32, false, true, 16, x86_avx512_mask_cvttps2udq_512},
      {32, 32, false, true, 8, x86_avx512_mask_cvttps2udq_256},
      {32, 32, false, true, 4, x86_avx512_mask_cvttps2udq_128},
      {32, 64, true, true, 8, x86_avx512_mask_cvttps2qq_512},
      {32, 64, true, true, 4, x86_avx512_mask_cvttps2qq_256},
      {32, 64, false, true, 8, x86_avx512_mask_cvttps2uqq_512},
      {32, 64, false, true, 4, x86_avx512_mask_cvttps2uqq_256},
      {64, 32, true, true, 8, x86_avx512_mask_cvttpd2dq_512},
      {64, 32, true, false, 4, x86_avx_cvtt_pd2dq_256},
      {64, 32, true, false, 2, x86_sse2_cvttpd2dq},
      {64, 32, false, true, 8, x86_avx512_mask_cvttpd2udq_512},
      {64, 32, false, true, 4, x86_avx512_mask_cvttpd2udq_256},
      {64, 64, true, true, 8, x86_avx512_mask_cvttpd2qq_512},
      {64, 64, true, true, 4, x86_avx512_mask_cvttpd2qq_256},
      {64, 64, true, true, 2, x86_avx512_mask_cvttpd2qq_128},
      {64, 64, false, true, 8, x86_avx512_mask_cvttpd2uqq_512},
      {64, 64, false, true, 4, x86_avx512_mask_cvttpd2uqq_256},
      {64, 64, false, true, 2, x86_avx512_mask_cvttpd2uqq_128},
  };
  const unsigned lanes = lanes_of(x), from = x->getType()->getScalarSizeInBits();
  const Form* form = nullptr;
  for (const Form& f : forms) {
    if (f.from != from || f.to != bits || f.is_signed != is_signed) continue;
    if (f.avx512 && isa_ != Isa::X86_64_V4) continue;
    if (f.lanes * from > 128 && isa_ == Isa::X86_64_V2) continue;
    form = &f;
    if (f.lanes <= lanes) break;
  }
  llvm::Function* fn = getDeclaration(b_.GetInsertBlock()->getModule(), form->id);
  const llvm::FunctionType* signature = fn->getFunctionType();
  llvm::SmallVector<llvm::Value*, 16> parts;
  for (unsigned first = 0; first < lanes; first += form->lanes) {
    llvm::SmallVector<llvm::Value*, 4> arguments = {slice(x, first, form->lanes)};
    if (signature->getNumParams() >
        1) {  // the value of masked lanes, the mask, the current rounding mode
      arguments.push_back(llvm::Constant::getNullValue(signature->getParamType(1)));
      arguments.push_back(llvm::Constant::getAllOnesValue(signature->getParamType(2)));
    }
    if (signature->getNumParams() > 3) arguments.push_back(b_.getInt32(4));
    parts.push_back(slice(b_.CreateCall(fn, arguments), 0, std::min(lanes, form->lanes)));
  }
  return concat(parts);
}

}  // namespace vyre::emit_llvm
