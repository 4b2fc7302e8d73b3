// The ops of the table on pairs.

#include "emit/exact/wide.h"

namespace vyre::emit_exact {
namespace {

Pair extreme(Opcode code, const Pair& a, const Pair& b, bool is_signed) {
  const Term first = code == Opcode::Min ? less(a, b, is_signed) : less(b, a, is_signed);
  return select(first, a, b);
}

/// The sum or difference, or the limit that it would leave the type by.
Pair saturated(const Pair& a, const Pair& b, bool add, bool is_signed) {
  Maker& c = *a.low.code;
  const Pair r = add ? a + b : a - b;
  if (!is_signed)
    return add ? select(less(r, a, false), pair_of(c, ~0ull), r)
               : select(less(a, b, false), pair_of(c, 0), r);
  const Term overflow = as(Type::I32, (add ? r.high ^ b.high : a.high ^ b.high) & (r.high ^ a.high)) < 0;
  const Pair limit = select(is_negative(a), pair_of(c, 1ull << 63), pair_of(c, ~0ull >> 1));
  return select(overflow, limit, r);
}

Pair ceil_divided(const Pair& a, const Pair& b, bool is_signed) {
  const Division d = divide(a, b, is_signed);
  Term up = !(is_zero(d.remainder) | is_zero(b));
  if (is_signed) up = up & !(is_negative(d.remainder) ^ is_negative(b));
  return d.quotient + widened(up);
}

Pair counted(const Term& n) { return {n, n.code->constant(Type::U32, 0)}; }

Pair bit_op(Opcode code, const Pair& x) {
  const auto count = [&](Opcode op, const Term& t) { return t.code->op(op, Type::U32, {t}); };
  switch (code) {
    case Opcode::Clz:
      return counted(select(x.high == 0, count(code, x.low) + 32, count(code, x.high)));
    case Opcode::Ctz:
      return counted(select(x.low == 0, count(code, x.high) + 32, count(code, x.low)));
    case Opcode::PopCount:
      return counted(count(code, x.low) + count(code, x.high));
    default:
      return {count(Opcode::ReverseBits, x.high), count(Opcode::ReverseBits, x.low)};
  }
}

/// Offset and count are clamped, the offset first; shifts by 64 come with an empty field only.
Pair field_op(Opcode code, std::span<const Pair> x, bool is_signed) {
  const bool insert = code == Opcode::Insert;
  Maker& c = *x[0].low.code;
  const Term all = c.constant(Type::U32, 64);
  const Term offset = min(x[insert ? 2 : 1].low, all);
  const Term n = min(x[insert ? 3 : 2].low, all - offset);
  const Term empty = n == 0;
  if (insert) {
    const Pair field = shift_left(shift_right(pair_of(c, ~0ull), 64 - n, false), offset);
    const Pair y = shift_left(x[1], offset);
    const Pair mixed = {(x[0].low & ~field.low) | (y.low & field.low),
                        (x[0].high & ~field.high) | (y.high & field.high)};
    return select(empty, x[0], mixed);
  }
  const Pair top = shift_left(x[0], 64 - offset - n);
  return select(empty, pair_of(c, 0), shift_right(top, 64 - n, is_signed));
}

}  // namespace

Pair wide_op(Opcode code, bool is_signed, std::span<const Pair> x) {
  Maker& c = *x[0].low.code;
  const Pair &a = x[0], &b = x[x.size() > 1 ? 1 : 0];
  switch (code) {
    case Opcode::Add:
      return a + b;
    case Opcode::Sub:
      return a - b;
    case Opcode::Mul:
      return a * b;
    case Opcode::Div:
      return divide(a, b, is_signed).quotient;
    case Opcode::Rem:
      return divide(a, b, is_signed).remainder;
    case Opcode::Neg:
      return pair_of(c, 0) - a;
    case Opcode::Min:
    case Opcode::Max:
      return extreme(code, a, b, is_signed);
    case Opcode::Abs:
      return is_signed ? select(is_negative(a), pair_of(c, 0) - a, a) : a;
    case Opcode::Clamp:
      return extreme(Opcode::Min, extreme(Opcode::Max, a, b, is_signed), x[2], is_signed);
    case Opcode::MulHi:
      return high_product(a, b, is_signed);
    case Opcode::SatAdd:
    case Opcode::SatSub:
      return saturated(a, b, code == Opcode::SatAdd, is_signed);
    case Opcode::CeilDiv:
      return ceil_divided(a, b, is_signed);
    case Opcode::And:
      return {a.low & b.low, a.high & b.high};
    case Opcode::Or:
      return {a.low | b.low, a.high | b.high};
    case Opcode::Xor:
      return {a.low ^ b.low, a.high ^ b.high};
    case Opcode::Not:
      return {~a.low, ~a.high};
    case Opcode::Shl:
      return shift_left(a, b.low);
    case Opcode::Shr:
      return shift_right(a, b.low, is_signed);
    case Opcode::RotL:
      return rotate_left(a, b.low);
    case Opcode::RotR:
      return rotate_left(a, 64 - b.low);
    case Opcode::Select:
      return select(a.low, b, x[2]);
    case Opcode::Extract:
    case Opcode::Insert:
      return field_op(code, x, is_signed);
    default:
      return bit_op(code, a);
  }
}

}  // namespace vyre::emit_exact
