// fma of f32: the native op after a test of its operands, or in f64. There the product is exact,
// and the sum is rounded to odd, so rounding it to f32 is the same as rounding the exact sum once.

#include "legalize/float_format.h"
#include "legalize/floats.h"
#include "legalize/soft.h"

namespace vyre::emit_exact {

Term Floats::fma(const Term& a, const Term& b, const Term& c) {
  if (is_native(Opcode::Fma, a.type, a.type)) return c_.op(Opcode::Fma, a.type, {a, b, c});
  const auto slowly = [&] { return by_long_form(Opcode::Fma, {a, b, c}); };
  if (a.type == Type::F64 || !p_.fused32) return slowly();
  const Term result = c_.op(Opcode::Fma, a.type, {a, b, c});
  if (!finds_small32()) return unless_subnormal(a, b, c, result, slowly);
  // Half as many ops as with integers; they also find zeros, which the long form handles.
  const auto size = [&](const Term& x) {
    return c_.marked(OpMark::MayFlush, Opcode::Abs, x.type, {x});
  };
  // Named in order: the evaluation order of arguments is unspecified.
  const Term size_r = size(result), size_c = size(c), least_of_sums = min(size_c, size_r);
  const Term size_b = size(b), size_a = size(a);
  const Term least = min(min(size_a, size_b), least_of_sums);
  const Term normal = c_.constant(a.type, shape_of(a.type).leading);
  return c_.branch(native(Opcode::Lt, least, normal), slowly, [&] { return result; });
}

/// True if native ops find numbers below the normal ones, flushed or not.
bool Floats::finds_small32() const {
  return is_native(Opcode::Min, Type::F32, Type::F32) && (p_.compare32 || p_.compare_normal32);
}

/// The native result where nothing is subnormal.
template <class Fn>
Term Floats::unless_subnormal(const Term& a, const Term& b, const Term& c, const Term& result,
                              Fn&& otherwise) {
  const Shape s = shape_of(a.type);
  // The sign is shifted out. A zero minus one wraps to a large number: a zero is not subnormal.
  const auto size = [](const Term& x) { return (bits(x) << 1) - 1; };
  const Term x = size(a), y = size(b), z = size(c), r = bits(result) << 1;
  const Term least_of_sums = min(z, r);
  const Term suspect = min(min(x, y), least_of_sums) <= 2 * s.leading;
  return c_.branch(
      suspect,
      [&] {
        // Zeros are common, and right.
        const Term zero = min(max(x, y), z) == low_mask(s.width);
        return c_.branch(zero, [&] { return result; }, otherwise);
      },
      [&] { return result; });
}

Term Floats::long_fma(const Term& a, const Term& b, const Term& c) {
  const auto slowly = [&] { return slow_fma(a, b, c); };
  if (a.type == Type::F64 || !p_.fused32 || !finds_small32()) return slowly();
  return unless_subnormal(a, b, c, c_.op(Opcode::Fma, a.type, {a, b, c}), slowly);
}

Term Floats::slow_fma(const Term& a, const Term& b, const Term& c) {
  if (a.type == Type::F64 || !has_f64() || !p_.compare64) {
    const Term z = bits(c), y = bits(b), x = bits(a);
    return real(soft_fma(x, y, z));
  }

  const Term y = widen(b), x = widen(a);
  const Term p = native(Opcode::Mul, x, y);
  const Term w = widen(c);
  const Term s = native(Opcode::Add, p, w);
  // The rounding error of the sum (exact for every order of magnitudes).
  const Term from_c = native(Opcode::Sub, s, p);
  const Term from_p = native(Opcode::Sub, s, from_c);
  const Term lost_of_c = native(Opcode::Sub, w, from_c);
  const Term lost_of_p = native(Opcode::Sub, p, from_p);
  const Term lost = native(Opcode::Add, lost_of_p, lost_of_c);
  // On which side of the sum the exact one lies: above 0 means away from zero. Sums and losses of
  // f32 products are 0 or from 2^-298 to 2^257, so this neither overflows nor vanishes; it is NaN
  // where the sum is infinite or NaN.
  const Term side = native(Opcode::Mul, s, lost);
  const Term zero = c_.constant(Type::F64, 0);
  // Between two neighbours the odd one is taken.
  const Term word = bits(s), below = (word - 1) | 1;
  const Term above = word | 1;
  const Term above_or_same = select(native(Opcode::Gt, side, zero), above, word);
  return narrow(real(select(native(Opcode::Lt, side, zero), below, above_or_same)));
}

}  // namespace vyre::emit_exact
