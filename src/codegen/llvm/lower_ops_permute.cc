// Lanes picked by number, known only at run time. LLVM has no operation for it.

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>

#include "codegen/llvm/lower_ops.h"

namespace vyre::emit_llvm {
namespace {

unsigned lanes_of(const llvm::Value* v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

/// The maximum number of registers for permute instructions; with more, memory is faster.
constexpr unsigned most_registers = 4;

}  // namespace

/// v[index[lane]] for each lane; every index is below the number of lanes.
llvm::Value* OpLowering::pick_lanes(llvm::Value* v, llvm::Value* index) {
  llvm::Type* type = v->getType();
  const unsigned bits = type->getScalarSizeInBits();
  if (lanes_of(v) == 1) return v;
  if (type->isFPOrFPVectorTy()) return b_.CreateBitCast(pick_lanes(bits_of(v), index), type);
  if (bits == 1) {
    llvm::Value* bytes = pick_lanes(b_.CreateZExt(v, shaped(b_.getInt8Ty(), v)), index);
    return b_.CreateTrunc(bytes, type);
  }
  if (!x86()) return pick_in_memory(v, index);
  // Elements that no instruction permutes are permuted as parts of wider ones: up to v2 there are
  // only bytes, which fit all; v3 has 32 bits, v4 16 to 64.
  const unsigned narrowest = isa_ == Isa::X86_64_V4 ? 16 : isa_ == Isa::X86_64_V3 ? 32 : 8;
  if (bits < narrowest && lanes_of(v) * bits > 128) {
    llvm::Value* wide = b_.CreateZExt(v, shaped(b_.getIntNTy(narrowest), v));
    return b_.CreateTrunc(pick_lanes(wide, index), type);
  }
  return pick_in_registers(v, index);
}

llvm::Value* OpLowering::pick_in_registers(llvm::Value* v, llvm::Value* index) {
  const unsigned lanes = lanes_of(v), bits = v->getType()->getScalarSizeInBits();
  const unsigned widest = isa_ == Isa::X86_64_V4 ? 512 : isa_ == Isa::X86_64_V3 ? 256 : 128;
  const unsigned chunk = std::min(widest / bits, std::bit_ceil(std::max(lanes, 128 / bits)));
  const unsigned chunks = (lanes + chunk - 1) / chunk;
  if (chunks > most_registers) return pick_in_memory(v, index);
  llvm::SmallVector<llvm::Value*, 4> parts;
  for (unsigned j = 0; j < chunks; ++j) {
    llvm::Value* from = slice(index, j * chunk, chunk);
    llvm::Value* found = nullptr;
    for (unsigned k = 0; k < chunks; ++k) {
      llvm::Value* here = permute(slice(v, k * chunk, chunk), from);
      llvm::Value* later = b_.CreateICmpUGE(from, splat(from, k * chunk));
      found = found ? b_.CreateSelect(later, here, found) : here;
    }
    parts.push_back(found);
  }
  return slice(concat(parts), 0, lanes);
}

/// One register, 128 bits at least: index modulo its lanes. Indices are below 128 bytes.
llvm::Value* OpLowering::permute(llvm::Value* v, llvm::Value* index) {
  namespace op = llvm::Intrinsic;
  const unsigned lanes = lanes_of(v), bits = v->getType()->getScalarSizeInBits(),
                 size = lanes * bits;
  llvm::Type* type = v->getType();
  index = b_.CreateZExtOrTrunc(index, type);
  if (size == 128) {
    // The index of each byte: index * bytes in every byte, and its own number.
    uint64_t every = 0, own = 0;
    for (unsigned byte = 0; byte < bits / 8; ++byte) {
      every |= uint64_t{bits / 8} << (8 * byte);
      own |= uint64_t{byte} << (8 * byte);
    }
    auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), 16);
    index = b_.CreateAdd(b_.CreateMul(index, splat(index, every)), splat(index, own));
    llvm::Value* result =
        b_.CreateIntrinsic(op::x86_ssse3_pshuf_b_128, {},
                           {b_.CreateBitCast(v, bytes), b_.CreateBitCast(index, bytes)});
    return b_.CreateBitCast(result, type);
  }
  if (bits == 32)
    return b_.CreateIntrinsic(size == 256 ? op::x86_avx2_permd : op::x86_avx512_permvar_si_512, {},
                              {v, index});
  if (bits == 16)
    return b_.CreateIntrinsic(
        size == 256 ? op::x86_avx512_permvar_hi_256 : op::x86_avx512_permvar_hi_512, {},
        {v, index});
  if (isa_ == Isa::X86_64_V4)
    return b_.CreateIntrinsic(
        size == 256 ? op::x86_avx512_permvar_di_256 : op::x86_avx512_permvar_di_512, {},
        {v, index});
  // 64 bits on v3 are two halves side by side.
  auto* words = llvm::FixedVectorType::get(b_.getInt32Ty(), 8);
  llvm::Value* twice = b_.CreateShl(index, 1);
  llvm::Value* next = b_.CreateOr(b_.CreateShl(twice, 32), splat(twice, 1ull << 32));
  llvm::Value* both = b_.CreateBitCast(b_.CreateOr(twice, next), words);
  return b_.CreateBitCast(
      b_.CreateIntrinsic(op::x86_avx2_permd, {}, {b_.CreateBitCast(v, words), both}), type);
}

/// A slot on the stack for each call, made where it costs nothing in a loop.
llvm::Value* OpLowering::pick_in_memory(llvm::Value* v, llvm::Value* index) {
  llvm::Type* element = v->getType()->getScalarType();
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.begin());
  llvm::AllocaInst* slot = start.CreateAlloca(v->getType());
  b_.CreateStore(v, slot);
  return each_lane({index}, [&](auto lane) {
    llvm::Value* from = b_.CreateZExt(lane[0], b_.getInt64Ty());
    return b_.CreateLoad(element, b_.CreateInBoundsGEP(element, slot, from));
  });
}

}  // namespace vyre::emit_llvm
