// Integers of 32 and 64 bits (legalization has made words of narrow ones), with comparisons, minima
// and bitwise logic of all widths. Divisions are those that the instructions get right.

#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/spirv_emitter.h"
#include "legalize/expand.h"

namespace vyre::emit_spirv {

Id Emitter::pick(Type t, bool least, Id a, Id b_) {
  if (width_of(t) < 64) {
    const uint32_t what = is_signed(t) ? (least ? GLSLstd450SMin : GLSLstd450SMax)
                                       : (least ? GLSLstd450UMin : GLSLstd450UMax);
    return extended(what, u32(), {a, b_});
  }
  const Id less = ins(is_signed(t) ? spv::OpSLessThan : spv::OpULessThan, b(), {a, b_});
  return least ? ins(spv::OpSelect, u64(), {less, a, b_})
               : ins(spv::OpSelect, u64(), {less, b_, a});
}

Id Emitter::integer(Opcode code, Type t, std::span<const Id> in) {
  const Id type = type_of(t);
  const auto unary = [&](spv::Op op) { return ins(op, type, {in[0]}); };
  const auto binary = [&](spv::Op op) { return ins(op, type, {in[0], in[1]}); };
  switch (code) {
    case Opcode::Add: return binary(spv::OpIAdd);
    case Opcode::Sub: return binary(spv::OpISub);
    case Opcode::Mul: return binary(spv::OpIMul);
    case Opcode::MulHi: return high_product(t, in[0], in[1]);
    case Opcode::Div: return binary(is_signed(t) ? spv::OpSDiv : spv::OpUDiv);
    case Opcode::Rem: return binary(spv::OpUMod);
    case Opcode::Min: return pick(t, true, in[0], in[1]);
    case Opcode::Max: return pick(t, false, in[0], in[1]);
    case Opcode::Clamp: return pick(t, true, pick(t, false, in[0], in[1]), in[2]);
    case Opcode::SatAdd:
    case Opcode::SatSub: return saturate_by_carry(code == Opcode::SatAdd, in[0], in[1]);
    case Opcode::And: return binary(spv::OpBitwiseAnd);
    case Opcode::Or: return binary(spv::OpBitwiseOr);
    case Opcode::Xor: return binary(spv::OpBitwiseXor);
    case Opcode::Shl: return binary(spv::OpShiftLeftLogical);
    case Opcode::Shr:
      return binary(is_signed(t) ? spv::OpShiftRightArithmetic : spv::OpShiftRightLogical);
    case Opcode::Neg: return unary(spv::OpSNegate);
    case Opcode::Not: return unary(spv::OpNot);
    case Opcode::PopCount: return unary(spv::OpBitCount);
    case Opcode::ReverseBits: return unary(spv::OpBitReverse);
    case Opcode::Clz: {  // the instruction returns -1 for 0
      const Id top = extended(GLSLstd450FindUMsb, u32(), {in[0]});
      return ins(spv::OpISub, u32(), {c32(31), top});
    }
    case Opcode::Ctz: {
      const Id found = extended(GLSLstd450FindILsb, u32(), {in[0]});
      return pick(Type::U32, true, found, c32(32));  // -1 is above
    }
    default:  // Abs; of MIN it is MIN
      return is_signed(t) ? pick(t, false, in[0], unary(spv::OpSNegate)) : in[0];
  }
}

Id Emitter::high_product(Type t, Id a, Id b_) {
  if (width_of(t) == 32) {
    const Id both =
        ins(is_signed(t) ? spv::OpSMulExtended : spv::OpUMulExtended, m_.type_pair(u32()), {a, b_});
    return part(both, 1);
  }
  // From products of halves, as unsigned; then each negative factor is corrected by subtracting the
  // other one.
  const Id low_half = m_.constant64(~0u), by = c32(32);
  const auto low = [&](Id x) { return ins(spv::OpBitwiseAnd, u64(), {x, low_half}); };
  const auto high = [&](Id x) { return ins(spv::OpShiftRightLogical, u64(), {x, by}); };
  const auto sum = [&](Id x, Id y) { return ins(spv::OpIAdd, u64(), {x, y}); };
  const Id al = low(a), ah = high(a), bl = low(b_), bh = high(b_);
  const Id ll = ins(spv::OpIMul, u64(), {al, bl}), lh = ins(spv::OpIMul, u64(), {al, bh});
  const Id hl = ins(spv::OpIMul, u64(), {ah, bl}), hh = ins(spv::OpIMul, u64(), {ah, bh});
  // Named in order: the evaluation order of arguments is unspecified.
  const Id hl_low = low(hl), lh_low = low(lh), ll_high = high(ll);
  const Id middle = sum(sum(ll_high, lh_low), hl_low);
  const Id carried = high(middle), hl_high = high(hl), upper = sum(hl_high, carried);
  Id result = sum(sum(hh, high(lh)), upper);
  if (!is_signed(t)) return result;
  const Id zero = m_.constant64(0);
  const Id minus_a = ins(spv::OpSLessThan, b(), {a, zero});
  const Id minus_b = ins(spv::OpSLessThan, b(), {b_, zero});
  result = ins(spv::OpISub, u64(), {result, ins(spv::OpSelect, u64(), {minus_a, b_, zero})});
  return ins(spv::OpISub, u64(), {result, ins(spv::OpSelect, u64(), {minus_b, a, zero})});
}

/// Saturates sums and differences of u64 in a form that the device's compiler does not recognize:
/// the carry comes from the highest bits, not from a comparison or a minimum. It is spread to all
/// bits by a shift whose amount is not known.
Id Emitter::saturate_by_carry(bool adds, Id a, Id b_) {
  const auto logic = [&](spv::Op op, Id x, Id y) { return ins(op, u64(), {x, y}); };
  const Id result = logic(adds ? spv::OpIAdd : spv::OpISub, a, b_);
  // Two of three: a, b and no bit in the sum; or no bit in a, b and one in the difference.
  const Id x = adds ? a : ins(spv::OpNot, u64(), {a});
  const Id y = adds ? ins(spv::OpNot, u64(), {result}) : result;
  const Id one_and_y = logic(spv::OpBitwiseAnd, logic(spv::OpBitwiseOr, x, b_), y);
  const Id carry = logic(spv::OpBitwiseOr, logic(spv::OpBitwiseAnd, x, b_), one_and_y);
  const Id all = logic(spv::OpShiftRightArithmetic, carry, unseen(63));
  if (adds) return logic(spv::OpBitwiseOr, result, all);
  return logic(spv::OpBitwiseAnd, result, ins(spv::OpNot, u64(), {all}));
}

/// The amount of a shift in 32 bits. It is taken modulo the width; more than the width has no
/// meaning in SPIR-V.
Id Emitter::amount_of(OpId shift) {
  const ValueId n = without_widening(p_, p_.operand(shift, 1));
  const uint32_t mask = width_of(p_.op(shift).type) - 1;
  if (const auto c = constant(n)) return c32(static_cast<uint32_t>(*c) & mask);
  const Id low = width_of(p_.type(n)) == 64 ? ins(spv::OpUConvert, u32(), {get(n)}) : get(n);
  if (emit_exact::has_mark(p_.op(shift), OpMark::InRange)) return low;
  return ins(spv::OpBitwiseAnd, u32(), {low, c32(mask)});
}

/// Shifts up and down again by a constant, which extend a sign: written as that. 0 if it is
/// something else.
Id Emitter::extend_by_shifts(OpId id) {
  if (p_.op(id).code != Opcode::Shr || p_.op(id).type != Type::I32) return 0;
  OpId up = p_.values[p_.operand(id, 0)].def;
  if (up != none && (p_.op(up).code == Opcode::Cast || p_.op(up).code == Opcode::Bitcast) &&
      p_.type(p_.operand(up, 0)) == Type::U32)
    up = p_.values[p_.operand(up, 0)].def;
  if (up == none || p_.op(up).code != Opcode::Shl) return 0;
  const auto first = constant(p_.operand(up, 1)), second = constant(p_.operand(id, 1));
  if (!first || !second || (*first ^ *second) & 31 || (*first & 31) == 0) return 0;
  return sign_extended(get(p_.operand(up, 0)), 32 - (*first & 31));
}

}  // namespace vyre::emit_spirv
