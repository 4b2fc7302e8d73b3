// The ops of the table on pairs.

#include "legalize/wide.h"

namespace vyre::emit_exact {
namespace {

Pair extreme(Opcode code, const Pair& a, const Pair& b, bool is_signed) {
  const Term first = code == Opcode::Min ? less(a, b, is_signed) : less(b, a, is_signed);
  return select(first, a, b);
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
    case Opcode::And: return {a.low & b.low, a.high & b.high};
    case Opcode::Or: return {a.low | b.low, a.high | b.high};
    case Opcode::Xor: return {a.low ^ b.low, a.high ^ b.high};
    case Opcode::Not: return {~a.low, ~a.high};
    case Opcode::Shl: return shift_left(a, b.low);
    case Opcode::Shr: return shift_right(a, b.low, is_signed);
    case Opcode::RotL: return rotate_left(a, b.low);
    case Opcode::RotR: return rotate_left(a, 64 - b.low);
    default: return select(a.low, b, x[2]);
  }
}

}  // namespace vyre::emit_exact
