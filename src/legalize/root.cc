// Square roots: through f64, or by integers from an estimate of the device.

#include "legalize/float_format.h"
#include "legalize/floats.h"

namespace vyre::emit_exact {
namespace {

/// floor(sqrt(n)) for an estimate that is at most `off` away; `n` is known modulo 2^width, and the
/// remainder of (estimate - off) is below 2^width.
struct Root {
  Term root, remainder;
};
Root corrected(const Term& n, const Term& estimate, uint64_t off) {
  const Term low = estimate - off;
  const Term rest = n - low * low;  // not negative
  // Twice the root is far above the square of the correction, so that is at most one too large.
  const Term step = quotient(rest, low << 1);
  const Term left = rest - step * ((low << 1) + step);
  const Shape s = shape_of(n.type);
  const Term over = as(s.number, left) < 0;
  const Term high = low + step;
  return {high - one_if(n.type, over), select(over, left + (high << 1) - 1, left)};
}

}  // namespace

Term Floats::sqrt(const Term& x) {
  if (is_native(Opcode::Sqrt, x.type, x.type)) return c_.op(Opcode::Sqrt, x.type, {x});
  return by_long_form(Opcode::Sqrt, {x});
}

Term Floats::long_sqrt(const Term& x) {
  // The root of an f32, if it is not an f32, is far enough from all numbers halfway between two.
  if (x.type == Type::F32 && has_f64() && p_.sqrt64)
    return narrow(c_.op(Opcode::Sqrt, Type::F64, {widen(x)}));

  const Shape s = shape_of(x.type);
  const Term word = bits(x), magnitude = word & s.magnitude;
  const Term field = magnitude >> s.fraction;
  // Named in order: the evaluation order of arguments is unspecified.
  const Term leading = select(field == 0, c_.constant(s.word, 0), s.leading);
  const Term stored = (magnitude & (s.leading - 1)) | leading;
  const Term n = clz(stored) - s.spare;
  const Term significand = stored << n;  // first bit at `leading`
  const Term exponent = as(s.number, max(field, c_.constant(s.word, 1)) - n - s.bias);
  const Term odd = as(s.word, exponent & 1);
  const Term half = (exponent - as(s.number, odd)) >> 1;

  // A number from 1 to 4 as f32, and the device's idea of its root.
  const Term top = cast(Type::U32, significand >> (s.fraction - 23)) - (1u << 23);
  const Term near = real(top + ((cast(Type::U32, odd) + 127) << 23));
  const Term estimate = bits(c_.op(Opcode::Sqrt, Type::F32, {near})) - 0x3f000000u;  // times 2^23

  // The root with one more bit than a significand has. It is never exactly halfway (its square
  // would have more bits than are available), so that bit alone determines the rounding.
  Term root;
  if (x.type == Type::F32) {
    const Term guess = estimate << 1;
    root = corrected(significand << (odd + 25), guess, 18).root;
  } else {
    // First the root of the upper half of the bits, then the rest by a division; the lower half of
    // the bits is 0.
    const Term guess = cast(Type::U64, estimate) << 3;
    const Root upper = corrected(significand << odd, guess, 160);
    const Term scaled = upper.remainder << 27, twice = upper.root << 1;
    const Term step = quotient(scaled, twice);
    const Term rest = scaled - step * twice;
    const Term square = step * step;
    const Term over = one_if(s.word, (rest << 27) < square);
    root = (upper.root << 27) + step - over;
  }
  const Term rounded = (root + 1) >> 1;
  const Term finite = rounded + (as(s.word, half + (s.bias - 1)) << s.fraction);
  const Term infinite = word == s.infinity;
  const Term kept = (magnitude == 0) | infinite;
  return real(select(kept, word, select(word > s.infinity, s.nan, finite)));
}

}  // namespace vyre::emit_exact
