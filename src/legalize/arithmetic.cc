// Sums, products, quotients and roots.

#include "legalize/float_format.h"
#include "legalize/floats.h"
#include "legalize/soft.h"

namespace vyre::emit_exact {
namespace {

constexpr uint64_t exponent_step = 1u << 23;

/// x * 2^149 for |x| < 2^-64, without reading a subnormal as a float. (-0 becomes 0.)
Term scaled_up(TermBuilder& c, const Term& word, const Term& magnitude) {
  const Term subnormal = magnitude < exponent_step;
  // With the exponent 150 a subnormal's bits are those of 2^23 and its multiple of 2^-149.
  const Term above =
      word + select(subnormal, c.constant(Type::U32, 150 * exponent_step), 149 * exponent_step);
  // Named in order: the evaluation order of arguments is unspecified.
  const Term power = select(subnormal, c.constant(Type::U32, 0x4b000000u), 0);
  const Term base = (word & 0x80000000u) | power;
  return c.op(Opcode::Sub, Type::F32, {real(above), real(base)});
}

/// x * 2^-149, for x that is an integer or at least 2^23; exact.
Term scaled_down(TermBuilder& c, const Term& x) {
  const Term word = bits(x), magnitude = word & 0x7fffffffu;
  const Term subnormal = magnitude < 0x4b000000u;
  const Term base = c.constant(Type::F32, 0x4b000000u);
  const Term integer = bits(c.op(Opcode::Add, Type::F32, {real(magnitude), base})) - 0x4b000000u;
  const Term scaled = select(subnormal, integer, magnitude - 149 * exponent_step);
  return real((word & 0x80000000u) | scaled);
}

}  // namespace

Term Floats::add(const Term& a, const Term& b) { return add_signed(Opcode::Add, a, b); }

Term Floats::add_signed(Opcode code, const Term& a, const Term& b) {
  if (is_native(code, a.type, a.type)) return native(code, a, b);
  const Shape s = shape_of(a.type);
  const Term x = bits(a), y = code == Opcode::Sub ? bits(b) ^ s.sign : bits(b);
  const auto slowly = [&] { return by_long_form(Opcode::Add, {a, real(y)}); };
  if (a.type == Type::F64 || !p_.normal32) return slowly();
  // If one of them is at least 2^-64, subnormals change nothing, and a sum that is not 0 is normal.
  // Two zeros are right, too.
  const Term mx = x & s.magnitude, my = y & s.magnitude;
  constexpr uint64_t large = (127u - 64u) << 23;
  const Term tiny = (max(mx, my) - 1) < large - 1;
  return c_.branch(tiny, slowly, [&] { return native(code, a, b); });
}

Term Floats::long_add(const Term& a, const Term& b) {
  const Shape s = shape_of(a.type);
  const Term x = bits(a), y = bits(b);
  if (a.type == Type::F64 || !p_.normal32) return real(soft_add(x, y));
  // Both are below 2^-64. A sum below 2^-126 is an integer times 2^-149, exact.
  const auto scaled = [&](const Term& word) { return scaled_up(c_, word, word & s.magnitude); };
  const Term up_y = scaled(y), up_x = scaled(x);
  return scaled_down(c_, native(Opcode::Add, up_x, up_y));
}

Term Floats::mul(const Term& a, const Term& b) {
  if (is_native(Opcode::Mul, a.type, a.type)) return native(Opcode::Mul, a, b);
  const Shape s = shape_of(a.type);
  const Term x = bits(a), y = bits(b);
  const auto slowly = [&] { return by_long_form(Opcode::Mul, {a, b}); };
  if (a.type == Type::F64 || !p_.normal32) return slowly();
  // Wrong are products of subnormals and those that are subnormal, or were before rounding.
  const Term product = native(Opcode::Mul, a, b);
  const Term my = y & s.magnitude, mx = x & s.magnitude;
  const Term smaller = min(mx, my);
  const Term tiny = (bits(product) & s.magnitude) <= s.leading;
  const Term subnormal = (smaller < s.leading) | tiny;
  const Term wrong = (smaller != 0) & subnormal;
  return c_.branch(wrong, slowly, [&] { return product; });
}

Term Floats::div(const Term& a, const Term& b) {
  if (is_native(Opcode::Div, a.type, a.type)) return native(Opcode::Div, a, b);
  return by_long_form(Opcode::Div, {a, b});
}

Term Floats::long_div(const Term& a, const Term& b) {
  // A quotient of two f32 that is neither an f32 nor halfway between two is at least 2^-50 of it
  // away from all of these, subnormal ones included: rounding to f64 first changes nothing.
  if (a.type == Type::F32 && has_f64() && p_.div64) {
    const Term y = widen(b), x = widen(a);
    return narrow(native(Opcode::Div, x, y));
  }
  const Term y = bits(b), x = bits(a);
  return real(soft_div(x, y));
}

}  // namespace vyre::emit_exact
