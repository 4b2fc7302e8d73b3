// Floats: every result that could be contracted is marked NoContraction. Signs, NaN and infinities
// are tested and changed as bits. The bits of a NaN are unspecified.

#include <fmt/format.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {
namespace {

uint64_t infinity_of(Type t) { return t == Type::F32 ? 0x7f800000 : 0x7ff0000000000000; }
uint64_t one_of(Type t) { return t == Type::F32 ? 0x3f800000 : 0x3ff0000000000000; }

}  // namespace

Type bits_as(Type t) { return t == Type::F32 ? Type::U32 : Type::U64; }

/// A mask of the sign of an f32, or of all other bits. A compiler that sees such a mask applied to
/// the bits of a float may replace it by a float operation, which flushes subnormals.
Id Emitter::sign_mask(uint32_t bits) { return options_.profile.signs32 ? c32(bits) : unseen(bits); }

/// A number that an f32 is compared with. A compiler that sees it in a selection as well may
/// combine the two into a minimum or maximum, which flushes subnormals.
Id Emitter::limit(uint32_t bits) {
  if (options_.profile.choose32) return constant_of(Type::F32, bits);
  const Id x = once({"compared with", bits}, [&] { return from_bits(Type::F32, unseen(bits)); });
  opaque_.insert(x);
  return x;
}

/// Without the sign.
Id Emitter::magnitude_of(Type t, Id bits) {
  const Type as = bits_as(t);
  const Id mask = t == Type::F32 ? sign_mask(0x7fffffff) : constant_of(as, low_mask(63));
  return ins(spv::OpBitwiseAnd, type_of(as), {bits, mask});
}

Id Emitter::is_nan(Type t, Id bits) {
  const Id infinity = constant_of(bits_as(t), infinity_of(t));
  return ins(spv::OpUGreaterThan, b(), {magnitude_of(t, bits), infinity});
}

Id Emitter::floating(Opcode code, Type t, std::span<const Id> in) {
  const Id type = type_of(t);
  const auto rounded = [&](uint32_t what) { return extended(what, type, {in[0]}); };
  const auto least = [&](bool is_min, Id a, Id b_) {
    return extended(is_min ? GLSLstd450NMin : GLSLstd450NMax, type, {a, b_});
  };
  switch (code) {
    case Opcode::Add: return exact(spv::OpFAdd, type, {in[0], in[1]});
    case Opcode::Sub: return exact(spv::OpFSub, type, {in[0], in[1]});
    case Opcode::Mul: return exact(spv::OpFMul, type, {in[0], in[1]});
    case Opcode::Div: return exact(spv::OpFDiv, type, {in[0], in[1]});
    case Opcode::Fma: {
      const Id result = extended(GLSLstd450Fma, type, {in[0], in[1], in[2]});
      m_.decorate(result, spv::DecorationNoContraction);
      return result;
    }
    case Opcode::Neg:
      return from_bits(
          t, ins(spv::OpBitwiseXor, type_of(bits_as(t)),
                 {bits_of(t, in[0]),
                  t == Type::F32 ? sign_mask(1u << 31) : constant_of(Type::U64, 1ull << 63)}));
    case Opcode::Abs: return from_bits(t, magnitude_of(t, bits_of(t, in[0])));
    case Opcode::Min: return least(true, in[0], in[1]);
    case Opcode::Max: return least(false, in[0], in[1]);
    case Opcode::Clamp: return least(true, least(false, in[0], in[1]), in[2]);
    case Opcode::Sqrt: return rounded(GLSLstd450Sqrt);
    case Opcode::Rsqrt: {  // rounded twice
      return exact(spv::OpFDiv, type, {constant_of(t, one_of(t)), rounded(GLSLstd450Sqrt)});
    }
    case Opcode::Floor: return rounded(GLSLstd450Floor);
    case Opcode::Ceil: return rounded(GLSLstd450Ceil);
    case Opcode::Round: return rounded(GLSLstd450RoundEven);
    case Opcode::Trunc: return rounded(GLSLstd450Trunc);
    case Opcode::IsNan: return is_nan(t, bits_of(t, in[0]));
    default:  // IsInf
      return ins(spv::OpIEqual, b(),
                 {magnitude_of(t, bits_of(t, in[0])), constant_of(bits_as(t), infinity_of(t))});
  }
}

}  // namespace vyre::emit_spirv
