#include "legalize/soft.h"

#include "legalize/float_format.h"

namespace vyre::emit_exact {
namespace {

Shape shape(const Term& word) { return shape_of(word.type); }

/// x >> n, the last bit set if anything was lost. n: 0 … width - 1.
Term shift_right(const Term& x, const Term& n) {
  const Term y = x >> n;
  return y | one_if(x.type, (y << n) != x);
}

/// A magnitude's significand and exponent. Zero has the significand 0.
struct Parts {
  Term significand;
  Term exponent;  // with bias, signed; of the first bit
};

/// The first bit at the word's top.
Parts to_the_top(const Term& magnitude) {
  const Shape s = shape(magnitude);
  const Term field = magnitude >> s.fraction;
  // Named in order: the evaluation order of arguments is unspecified.
  const Term leading = select(field == 0, magnitude.code->constant(s.word, 0), s.top());
  const Term word = (magnitude << s.spare) | leading;
  const Term n = clz(word);
  return {word << n, as(s.number, max(field, magnitude.code->constant(s.word, 1)) - n)};
}

Term at_least(const Term& x, int64_t low) {
  return max(x, x.code->constant(x.type, static_cast<uint64_t>(low)));
}
Term at_most(const Term& x, int64_t high) {
  return min(x, x.code->constant(x.type, static_cast<uint64_t>(high)));
}

}  // namespace

Term round_to_float(const Term& significand, const Term& exponent) {
  const Shape s = shape(significand);
  // Below the normal numbers the last bit stays where it is.
  const Term below = at_most(at_least(1 - exponent, 0), s.width - 1);
  const Term word = shift_right(significand, as(s.word, below));
  const Term kept = word >> s.spare;
  const Term odd = kept & 1;
  const Term rest = (word << (s.width - s.spare)) | odd;  // an odd number is more than half
  const Term up = one_if(s.word, rest > s.top());
  const Term field = as(s.word, at_least(exponent, 1) - 1) << s.fraction;
  const Term rounded = kept + field + up;  // the first bit, or a carry, adds to the exponent
  const Term limited = min(rounded, rounded.code->constant(s.word, s.infinity));
  return select(significand == 0, 0, limited);
}

Term soft_add(const Term& a, const Term& b) {
  const Shape s = shape(a);
  const Term ma = a & s.magnitude, mb = b & s.magnitude;
  const Term swapped = ma < mb;
  const Term large = max(ma, mb), small = min(ma, mb);
  const Term sign = select(swapped, b, a) & s.sign;
  const Term apart = ((a ^ b) & s.sign) != 0;

  // First bits one below the top, so that the sum has room.
  const auto significand = [&](const Term& m) {
    const Term stored = (m << (s.spare - 1)) & (s.top() / 2 - 1);
    return stored | select(m < s.leading, a.code->constant(s.word, 0), s.top() / 2);
  };
  const auto exponent = [&](const Term& m) {
    return max(m >> s.fraction, a.code->constant(s.word, 1));
  };
  const Term e = exponent(large);
  const Term x = significand(large);
  const Term distance = at_most(e - exponent(small), s.width - 1);
  const Term y = shift_right(significand(small), distance);
  const Term added = x + y;
  const Term sum = select(apart, x - y, added);
  const Term n = clz(sum);
  const Term sign_of_zero = a & b & s.sign;
  const Term sign_of_sum = select(sum == 0, sign_of_zero, sign);
  const Term exponent_of_sum = as(s.number, e + 1 - n);
  const Term finite = round_to_float(sum << n, exponent_of_sum) | sign_of_sum;

  const Term opposed = apart & (small == s.infinity);
  const Term none = (large > s.infinity) | opposed;
  const Term special = select(none, s.nan, sign | large);
  return select(large >= s.infinity, special, finite);
}

Term soft_mul(const Term& a, const Term& b) {
  const Shape s = shape(a);
  const Term ma = a & s.magnitude, mb = b & s.magnitude;
  const Term sign = (a ^ b) & s.sign;
  const Parts x = to_the_top(ma), y = to_the_top(mb);
  const Term high = mulhi(x.significand, y.significand);
  const Term lost = one_if(s.word, (x.significand * y.significand) != 0);
  const Term n = (high >> (s.width - 1)) ^ 1;  // 1 for a product below 2
  const Term shifted = as(s.number, n);
  const Term exponent = x.exponent + y.exponent - shifted - (s.bias - 1);
  const Term finite = round_to_float((high | lost) << n, exponent);

  const Term large = max(ma, mb);
  const Term zero = min(ma, mb) == 0;
  const Term none = (large > s.infinity) | zero;
  const Term special = select(none, s.nan, a.code->constant(s.word, s.infinity));
  return select(large >= s.infinity, special, finite) | sign;
}

Term soft_div(const Term& a, const Term& b) {
  const Shape s = shape(a);
  const Term ma = a & s.magnitude, mb = b & s.magnitude;
  const Term sign = (a ^ b) & s.sign;
  const Parts x = to_the_top(ma), y = to_the_top(mb);
  // Long division in steps of as many bits as a word has above a significand. The quotient is
  // scaled to begin with a 1, so the first step produces all of its bits but one.
  const Term divisor = y.significand >> s.spare;
  const Term smaller = x.significand < y.significand;
  const Term dividend = (x.significand >> s.spare) << one_if(s.word, smaller);
  Term rest = dividend << (s.spare - 1);
  Term q = quotient(rest, divisor);
  rest = rest - q * divisor;
  uint32_t digits = s.spare;
  while (digits < s.fraction + 1) {
    const Term shifted = rest << s.spare;
    const Term digit = quotient(shifted, divisor);
    rest = shifted - digit * divisor;
    q = (q << s.spare) | digit;
    digits += s.spare;
  }
  Term significand = q << (s.width - digits);
  // A quotient of two significands never ends right after its last significant bit, so the
  // remainder determines everything except whether it is more than half.
  if (digits == s.fraction + 1) {
    const uint64_t half = 1ull << (s.width - digits - 1);
    significand = significand | select((rest << 1) >= divisor, a.code->constant(s.word, half), 0);
  }
  significand = significand | one_if(s.word, rest != 0);
  const Term shifted = as(s.number, one_if(s.word, smaller));
  const Term exponent = x.exponent - y.exponent - shifted + s.bias;
  const Term finite = round_to_float(significand, exponent);

  const Term of_infinity = ma == s.infinity;
  const Term extreme = (ma == 0) | of_infinity;
  const Term undefined = (ma == mb) & extreme;
  const Term none = (max(ma, mb) > s.infinity) | undefined;
  const Term by_zero = mb == 0;
  const Term infinite = (ma >= s.infinity) | by_zero;
  const Term by_infinity = mb == s.infinity;
  const Term zero = (ma == 0) | by_infinity;
  const Term special =
      select(none, s.nan, select(infinite, a.code->constant(s.word, s.infinity), 0));
  return select(none | infinite | zero, special, finite) | sign;
}

}  // namespace vyre::emit_exact
