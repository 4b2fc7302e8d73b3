// fma of f32: the device's own behind a test, or in f64. There the product is exact, and the sum is
// rounded to odd, so that rounding it once more to f32 is as rounding the exact sum once.

#include "emit/exact/floats.h"
#include "emit/exact/shape.h"
#include "emit/exact/soft.h"

namespace vyre::emit_exact {
namespace {

constexpr uint64_t exponent64 = 0x7ffull << 52;

}  // namespace

Term Floats::fma(const Term& a, const Term& b, const Term& c) {
  if (is_native(Opcode::Fma, a.type, a.type)) return c_.op(Opcode::Fma, a.type, {a, b, c});
  if (a.type == Type::F64 || !p_.fused32) return exact_fma(a, b, c);
  const Shape s = shape_of(a.type);
  const Term result = c_.op(Opcode::Fma, a.type, {a, b, c});
  const Term x = bits(a) & s.magnitude, y = bits(b) & s.magnitude, z = bits(c) & s.magnitude;
  // A zero is no subnormal: one less than 0 is large.
  const Term subnormal = min(min(x - 1, y - 1), z - 1) < s.leading - 1;
  const Term tiny = ((bits(result) & s.magnitude) <= s.leading) & ((min(x, y) | z) != 0);
  return c_.branch(
      subnormal | tiny, [&] { return exact_fma(a, b, c); }, [&] { return result; });
}

Term Floats::exact_fma(const Term& a, const Term& b, const Term& c) {
  if (a.type == Type::F64 || !has_f64()) return real(soft_fma(bits(a), bits(b), bits(c)));

  const Term p = native(Opcode::Mul, widen(a), widen(b));
  const Term w = widen(c);
  const Term s = native(Opcode::Add, p, w);
  // What the sum lost (exact for every order of magnitudes).
  const Term from_c = native(Opcode::Sub, s, p);
  const Term from_p = native(Opcode::Sub, s, from_c);
  const Term lost = native(Opcode::Add, native(Opcode::Sub, p, from_p), native(Opcode::Sub, w, from_c));
  const Term e = bits(lost), word = bits(s);
  // An even sum that lost something moves to its odd neighbour on the side of what it lost. Sums
  // and losses of f32 products are 0 or far above the smallest normal f64, infinite or NaN.
  const Term some = ((e & ~(1ull << 63)) - 1) < exponent64 - 1;
  const Term move = some & ((word & 1) == 0);
  const Term apart = as(Type::I64, e ^ word) < 0;  // the loss is towards zero
  const Term step = select(apart, c_.constant(Type::U64, ~0ull), c_.constant(Type::U64, 1));
  return narrow(real(word + select(move, step, 0)));
}

}  // namespace vyre::emit_exact
