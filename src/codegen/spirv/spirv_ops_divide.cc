// Integer division. x/0 is all ones (unsigned) or 0 (signed), x%0 is 0, MIN/-1 is MIN, MIN%-1 is 0.
// Devices promise nothing for a divisor of 0 or for MIN/-1, so both are replaced by 1 first; nor
// for a signed remainder with negative operands, so that is computed from the quotient.

#include <bit>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

Id Emitter::divide(Opcode code, Type t, Id a, Id b_) {
  const bool is_signed = vyre::is_signed(t), wraps = width_of(t) >= 32;
  const Id type = type_of(t), one = constant_of(t, 1), zero = zero_of(t);
  const Id by_zero = ins(spv::OpIEqual, b(), {b_, zero});
  Id safe = ins(spv::OpSelect, type, {by_zero, one, b_}), by_minus_one = 0;
  if (is_signed && wraps) {  // narrow ones have room for the quotient of MIN
    by_minus_one = ins(spv::OpIEqual, b(), {b_, constant_of(t, ~uint64_t{0})});
    safe = ins(spv::OpSelect, type, {by_minus_one, one, safe});
  }
  if (code == Opcode::Rem && !is_signed) return ins(spv::OpUMod, type, {a, safe});  // x % 1 is 0
  Id quotient = ins(is_signed ? spv::OpSDiv : spv::OpUDiv, type, {a, safe});
  if (code == Opcode::Rem || code == Opcode::CeilDiv) {
    const Id product = ins(spv::OpIMul, type, {quotient, safe});
    const Id rest = ins(spv::OpISub, type, {a, product});
    if (code == Opcode::Rem) return rest;
    // Up by one where something is left and the quotient is positive: the remainder has the sign
    // of the dividend, so it must be that of the divisor.
    Id up = ins(spv::OpINotEqual, b(), {rest, zero});
    if (is_signed) {
      const Id differ = ins(spv::OpBitwiseXor, type, {rest, safe});
      up = both(up, ins(spv::OpSGreaterThanEqual, b(), {differ, zero}));
    }
    const Id next = ins(spv::OpIAdd, type, {quotient, one});
    quotient = ins(spv::OpSelect, type, {up, next, quotient});
  }
  if (by_minus_one)  // MIN stays MIN
    quotient = ins(spv::OpSelect, type, {by_minus_one, ins(spv::OpSNegate, type, {a}), quotient});
  const Id at_zero = is_signed ? zero : constant_of(t, ~uint64_t{0});
  const Id result = ins(spv::OpSelect, type, {by_zero, at_zero, quotient});
  return is_signed ? normalize(t, result) : result;
}

/// Divisors that are known: no corners are left, and powers of two are shifts. Others are mostly
/// gone already, by the pass divide_by_constant. 0 if there is nothing to gain.
Id Emitter::divide_by_constant(OpId id) {
  const Op& o = p_.op(id);
  if (o.code != Opcode::Div && o.code != Opcode::Rem && o.code != Opcode::CeilDiv) return 0;
  const Type t = o.type;
  if (!is_integer(t)) return 0;
  const auto c = constant(p_.operand(id, 1));
  if (!c) return 0;
  const uint64_t by = *c & low_mask(width_of(t));
  if (by == 0 || (is_signed(t) && by == low_mask(width_of(t)))) return 0;
  const Id a = get(p_.operand(id, 0)), type = type_of(t);
  if (!is_signed(t) && std::has_single_bit(by)) {
    const Id log2 = c32(static_cast<uint32_t>(std::countr_zero(by)));
    const Id mask = constant_of(t, by - 1);
    if (o.code == Opcode::Rem) return ins(spv::OpBitwiseAnd, type, {a, mask});
    const Id quotient = ins(spv::OpShiftRightLogical, type, {a, log2});
    if (o.code == Opcode::Div) return quotient;
    const Id rest = ins(spv::OpBitwiseAnd, type, {a, mask});
    const Id up = ins(spv::OpINotEqual, b(), {rest, zero_of(t)});
    const Id next = ins(spv::OpIAdd, type, {quotient, constant_of(t, 1)});
    return ins(spv::OpSelect, type, {up, next, quotient});
  }
  if (o.code == Opcode::CeilDiv) return 0;
  const Id divisor = get(p_.operand(id, 1));
  if (!is_signed(t))
    return ins(o.code == Opcode::Div ? spv::OpUDiv : spv::OpUMod, type, {a, divisor});
  const Id quotient = ins(spv::OpSDiv, type, {a, divisor});
  if (o.code == Opcode::Div) return quotient;
  return ins(spv::OpISub, type, {a, ins(spv::OpIMul, type, {quotient, divisor})});
}

}  // namespace vyre::emit_spirv
