// The ops of the table on pairs.

#include "legalize/wide.h"

namespace vyre::emit_exact {
namespace {

Pair extreme(Opcode code, const Pair& a, const Pair& b, bool is_signed) {
  const Term first = code == Opcode::Min ? less(a, b, is_signed) : less(b, a, is_signed);
  return select(first, a, b);
}

/// The sum or difference, or the limit that it would leave the type by.
Pair saturated(const Pair& a, const Pair& b, bool add, bool is_signed) {
  TermBuilder& c = *a.low.code;
  const Pair r = add ? a + b : a - b;
  if (!is_signed)
    return add ? select(less(r, a, false), pair_of(c, ~0ull), r)
               : select(less(a, b, false), pair_of(c, 0), r);
  // Named in order: the evaluation order of arguments is unspecified.
  const Term changed = r.high ^ a.high;
  const Term overflow = as(Type::I32, (add ? r.high ^ b.high : a.high ^ b.high) & changed) < 0;
  const Pair limit = select(is_negative(a), pair_of(c, 1ull << 63), pair_of(c, ~0ull >> 1));
  return select(overflow, limit, r);
}

Pair ceil_divided(const Pair& a, const Pair& b, bool is_signed) {
  const Division d = divide(a, b, is_signed);
  const Term by_zero = is_zero(b);
  Term up = !(is_zero(d.remainder) | by_zero);
  if (is_signed) {
    const Term by_negative = is_negative(b);
    up = up & !(is_negative(d.remainder) ^ by_negative);
  }
  return d.quotient + widened(up);
}

Pair counted(const Term& n) { return {n, n.code->constant(Type::U32, 0)}; }

Pair bit_op(Opcode code, const Pair& x) {
  const auto count = [&](Opcode op, const Term& t) { return t.code->op(op, Type::U32, {t}); };
  switch (code) {
    case Opcode::Clz:
    case Opcode::Ctz: {
      const bool from_top = code == Opcode::Clz;
      const Term &first = from_top ? x.high : x.low, &second = from_top ? x.low : x.high;
      const Term in_first = count(code, first), in_second = count(code, second) + 32;
      return counted(select(first == 0, in_second, in_first));
    }
    case Opcode::PopCount: {
      const Term in_high = count(code, x.high);
      return counted(count(code, x.low) + in_high);
    }
    default: return {count(Opcode::ReverseBits, x.high), count(Opcode::ReverseBits, x.low)};
  }
}

/// Offset and count are clamped, the offset first; shifts by 64 come with an empty field only.
Pair field_op(Opcode code, std::span<const Pair> x, bool is_signed) {
  const bool insert = code == Opcode::Insert;
  TermBuilder& c = *x[0].low.code;
  const Term all = c.constant(Type::U32, 64);
  const Term offset = min(x[insert ? 2 : 1].low, all);
  const Term n = min(x[insert ? 3 : 2].low, all - offset);
  const Term empty = n == 0;
  if (insert) {
    const Pair field = shift_left(shift_right(pair_of(c, ~0ull), 64 - n, false), offset);
    const Pair y = shift_left(x[1], offset);
    const auto mixed = [](const Term& old, const Term& put, const Term& mask) {
      const Term inside = put & mask;
      return (old & ~mask) | inside;
    };
    const Pair both = {mixed(x[0].low, y.low, field.low), mixed(x[0].high, y.high, field.high)};
    return select(empty, x[0], both);
  }
  const Pair top = shift_left(x[0], 64 - offset - n);
  return select(empty, pair_of(c, 0), shift_right(top, 64 - n, is_signed));
}

}  // namespace

Pair wide_op(Opcode code, bool is_signed, std::span<const Pair> x) {
  TermBuilder& c = *x[0].low.code;
  const Pair &a = x[0], &b = x[x.size() > 1 ? 1 : 0];
  switch (code) {
    case Opcode::Add: return a + b;
    case Opcode::Sub: return a - b;
    case Opcode::Mul: return a * b;
    case Opcode::Div: return divide(a, b, is_signed).quotient;
    case Opcode::Rem: return divide(a, b, is_signed).remainder;
    case Opcode::Neg: return pair_of(c, 0) - a;
    case Opcode::Min:
    case Opcode::Max: return extreme(code, a, b, is_signed);
    case Opcode::Abs: {
      if (!is_signed) return a;
      const Pair negated = pair_of(c, 0) - a;
      return select(is_negative(a), negated, a);
    }
    case Opcode::Clamp:
      return extreme(Opcode::Min, extreme(Opcode::Max, a, b, is_signed), x[2], is_signed);
    case Opcode::MulHi: return high_product(a, b, is_signed);
    case Opcode::SatAdd:
    case Opcode::SatSub: return saturated(a, b, code == Opcode::SatAdd, is_signed);
    case Opcode::CeilDiv: return ceil_divided(a, b, is_signed);
    case Opcode::And: return {a.low & b.low, a.high & b.high};
    case Opcode::Or: return {a.low | b.low, a.high | b.high};
    case Opcode::Xor: return {a.low ^ b.low, a.high ^ b.high};
    case Opcode::Not: return {~a.low, ~a.high};
    case Opcode::Shl: return shift_left(a, b.low);
    case Opcode::Shr: return shift_right(a, b.low, is_signed);
    case Opcode::RotL: return rotate_left(a, b.low);
    case Opcode::RotR: return rotate_left(a, 64 - b.low);
    case Opcode::Select: return select(a.low, b, x[2]);
    case Opcode::Extract:
    case Opcode::Insert: return field_op(code, x, is_signed);
    default: return bit_op(code, a);
  }
}

}  // namespace vyre::emit_exact
