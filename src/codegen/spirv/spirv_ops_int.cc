// Integers. Those of 8 and 16 bits are computed in 32 bits and extended again where bits above may
// have changed. What devices have for 32 bits only is put together for 64.

#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/spirv_emitter.h"

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
  const auto wrapped = [&](spv::Op op) { return normalize(t, ins(op, type, {in[0], in[1]})); };
  switch (code) {
    case Opcode::Add: return wrapped(spv::OpIAdd);
    case Opcode::Sub: return wrapped(spv::OpISub);
    case Opcode::Mul: return wrapped(spv::OpIMul);
    case Opcode::Neg: return normalize(t, ins(spv::OpSNegate, type, {in[0]}));
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::CeilDiv: return divide(code, t, in[0], in[1]);
    case Opcode::Min: return pick(t, true, in[0], in[1]);
    case Opcode::Max: return pick(t, false, in[0], in[1]);
    case Opcode::Clamp: return pick(t, true, pick(t, false, in[0], in[1]), in[2]);
    case Opcode::Abs:
      if (!is_signed(t)) return in[0];  // of MIN it is MIN
      return normalize(t, pick(t, false, in[0], ins(spv::OpSNegate, type, {in[0]})));
    case Opcode::MulHi: {
      if (width_of(t) >= 32) return high_product(t, in[0], in[1]);
      const Id product = ins(spv::OpIMul, u32(), {in[0], in[1]});  // fits
      return ins(is_signed(t) ? spv::OpShiftRightArithmetic : spv::OpShiftRightLogical, u32(),
                 {product, c32(width_of(t))});
    }
    case Opcode::SatAdd:
    case Opcode::SatSub: return saturate(code, t, in[0], in[1]);
    case Opcode::And: return ins(spv::OpBitwiseAnd, type, {in[0], in[1]});
    case Opcode::Or: return ins(spv::OpBitwiseOr, type, {in[0], in[1]});
    case Opcode::Xor: return ins(spv::OpBitwiseXor, type, {in[0], in[1]});
    case Opcode::Not: return normalize(t, ins(spv::OpNot, type, {in[0]}));
    case Opcode::Clz:
    case Opcode::Ctz:
    case Opcode::PopCount:
    case Opcode::ReverseBits: return count_bits(code, t, in[0]);
    default: return bit_field(code, t, in);
  }
}

Id Emitter::high_product(Type t, Id a, Id b_) {
  if (width_of(t) == 32) {
    const Id both =
        ins(is_signed(t) ? spv::OpSMulExtended : spv::OpUMulExtended, m_.type_pair(u32()), {a, b_});
    return part(both, 1);
  }
  // From products of halves; then what a negative factor brought in is taken off.
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

/// Sums and differences of u64, so that the device's compiler does not find out: the carry comes
/// from the highest bits, and not from a comparison or a least value, and goes to all bits by a
/// shift whose amount is not known.
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

Id Emitter::saturate(Opcode code, Type t, Id a, Id b_) {
  const bool adds = code == Opcode::SatAdd;
  const uint32_t width = width_of(t);
  const Id type = type_of(t);
  if (!is_signed(t)) {
    if (width == 64 && !options_.profile.saturate64) return saturate_by_carry(adds, a, b_);
    if (!adds) return ins(spv::OpISub, type, {pick(t, false, a, b_), b_});  // max(a, b) - b
    if (width < 32) {
      const Id most = constant_of(t, low_mask(width));
      return pick(t, true, ins(spv::OpIAdd, type, {a, b_}), most);
    }
    const Id room = ins(spv::OpNot, type, {b_});  // min(a, MAX - b) + b
    return ins(spv::OpIAdd, type, {pick(t, true, a, room), b_});
  }
  const Id sum = ins(adds ? spv::OpIAdd : spv::OpISub, type, {a, b_});
  if (width < 32) {
    const Id low = pick(t, false, sum, constant_of(t, uint64_t{1} << (width - 1)));
    return pick(t, true, low, constant_of(t, low_mask(width - 1)));
  }
  // It overflowed if the result's sign is wrong for both (a sum), or for a and unlike b's.
  const Id x = ins(spv::OpBitwiseXor, type, {a, sum});
  const Id y = ins(spv::OpBitwiseXor, type, {adds ? sum : a, b_});
  const Id wrong = ins(spv::OpBitwiseAnd, type, {x, y});
  const Id sign = ins(spv::OpShiftRightArithmetic, type, {a, c32(width - 1)});
  const Id limit = ins(spv::OpBitwiseXor, type, {sign, constant_of(t, low_mask(width - 1))});
  const Id over = ins(spv::OpSLessThan, b(), {wrong, zero_of(t)});
  return ins(spv::OpSelect, type, {over, limit, sum});
}

/// Amounts are taken modulo the width; more than the width has no meaning in SPIR-V.
Id Emitter::amount_of(ValueId n) {
  const uint32_t width = width_of(p_.type(n));
  if (const auto c = constant(n)) return c32(static_cast<uint32_t>(*c) & (width - 1));
  const Id low = width == 64 ? ins(spv::OpUConvert, u32(), {get(n)}) : get(n);
  return ins(spv::OpBitwiseAnd, u32(), {low, c32(width - 1)});
}

Id Emitter::shift(Opcode code, Type t, Id a, Id amount) {
  const uint32_t width = width_of(t);
  const Id type = type_of(t), mask = c32(width - 1);
  if (code == Opcode::Shr)
    return ins(is_signed(t) ? spv::OpShiftRightArithmetic : spv::OpShiftRightLogical, type,
               {a, amount});
  if (code == Opcode::Shl) return normalize(t, ins(spv::OpShiftLeftLogical, type, {a, amount}));
  const bool left = code == Opcode::RotL;
  const Id bits = zero_extended(t, a);
  const Id rest = ins(spv::OpISub, u32(), {c32(width), amount});
  // Of a narrow one a whole width may go: 0 comes in.
  const Id back = width < 32 ? rest : ins(spv::OpBitwiseAnd, u32(), {rest, mask});
  const Id x = ins(spv::OpShiftLeftLogical, type, {bits, left ? amount : back});
  const Id y = ins(spv::OpShiftRightLogical, type, {bits, left ? back : amount});
  return normalize(t, ins(spv::OpBitwiseOr, type, {x, y}));
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

Id Emitter::count_bits(Opcode code, Type t, Id a) {
  const uint32_t width = width_of(t);
  const auto leading = [&](Id x) {  // of 0 the instruction gives -1
    const Id top = extended(GLSLstd450FindUMsb, u32(), {x});
    return ins(spv::OpISub, u32(), {c32(31), top});
  };
  const auto trailing = [&](Id x) {
    const Id found = extended(GLSLstd450FindILsb, u32(), {x});
    return pick(Type::U32, true, found, c32(32));  // -1 is above
  };
  if (width < 64) {
    const Id bits = zero_extended(t, a);
    switch (code) {
      case Opcode::PopCount: return ins(spv::OpBitCount, u32(), {bits});
      case Opcode::ReverseBits: {
        const Id all = ins(spv::OpBitReverse, u32(), {bits});
        if (width == 32) return all;  // else the shift extends as the type says
        return ins(is_signed(t) ? spv::OpShiftRightArithmetic : spv::OpShiftRightLogical, u32(),
                   {all, c32(32 - width)});
      }
      case Opcode::Clz: {
        const Id n = leading(bits);
        return width == 32 ? n : ins(spv::OpISub, u32(), {n, c32(32 - width)});
      }
      default:  // a bit above a narrow value stops it
        return trailing(width == 32 ? bits
                                    : ins(spv::OpBitwiseOr, u32(), {bits, c32(1u << width)}));
    }
  }
  const Id halves = ins(spv::OpBitcast, words(2), {a});
  const Id low = part(halves, 0), high = part(halves, 1);
  const auto widened = [&](Id n) { return ins(spv::OpUConvert, u64(), {n}); };
  switch (code) {
    case Opcode::PopCount: {
      const Id x = ins(spv::OpBitCount, u32(), {low}), y = ins(spv::OpBitCount, u32(), {high});
      return widened(ins(spv::OpIAdd, u32(), {x, y}));
    }
    case Opcode::ReverseBits: {
      const Id x = ins(spv::OpBitReverse, u32(), {low}), y = ins(spv::OpBitReverse, u32(), {high});
      return ins(spv::OpBitcast, u64(), {pair(y, x)});
    }
    default: {
      const bool leads = code == Opcode::Clz;
      const Id first = leads ? high : low, second = leads ? low : high;
      const Id x = leads ? leading(first) : trailing(first);
      const Id y = leads ? leading(second) : trailing(second);
      const Id none_ = ins(spv::OpIEqual, b(), {first, c32(0)});
      const Id more = ins(spv::OpIAdd, u32(), {y, c32(32)});
      return widened(ins(spv::OpSelect, u32(), {none_, more, x}));
    }
  }
}

/// The field goes to the top and comes down again, or a mask is made the same way. A field of no
/// bits is chosen apart, because a shift by the whole width has no meaning.
Id Emitter::bit_field(Opcode code, Type t, std::span<const Id> in) {
  const bool extract = code == Opcode::Extract;
  const uint32_t width = width_of(t), whole = width == 64 ? 64 : 32;
  const Id type = type_of(t), mask = c32(whole - 1);
  const auto modulo = [&](Id x) { return ins(spv::OpBitwiseAnd, u32(), {x, mask}); };
  const Id offset = pick(Type::U32, true, in[extract ? 1 : 2], c32(width));
  const Id room = ins(spv::OpISub, u32(), {c32(width), offset});
  const Id n = pick(Type::U32, true, in[extract ? 2 : 3], room);
  const Id empty = ins(spv::OpIEqual, b(), {n, c32(0)});
  const Id down = modulo(ins(spv::OpISub, u32(), {c32(whole), n}));
  if (extract) {
    const Id up = modulo(ins(spv::OpISub, u32(), {down, offset}));
    const Id top = ins(spv::OpShiftLeftLogical, type, {in[0], up});
    const Id field = ins(is_signed(t) ? spv::OpShiftRightArithmetic : spv::OpShiftRightLogical,
                         type, {top, down});
    return ins(spv::OpSelect, type, {empty, zero_of(t), field});
  }
  const Id ones = constant_of(whole == 64 ? Type::U64 : Type::U32, ~uint64_t{0});
  const Id low = ins(spv::OpShiftRightLogical, type, {ones, down});
  const Id at = modulo(offset);
  const Id field = ins(spv::OpShiftLeftLogical, type, {low, at});
  const Id x = ins(spv::OpShiftLeftLogical, type, {in[1], at});
  const Id differ = ins(spv::OpBitwiseAnd, type, {ins(spv::OpBitwiseXor, type, {x, in[0]}), field});
  const Id merged = ins(spv::OpBitwiseXor, type, {in[0], differ});
  return ins(spv::OpSelect, type, {empty, in[0], normalize(t, merged)});
}

}  // namespace vyre::emit_spirv
