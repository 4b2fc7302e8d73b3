// fma by integers: the product in two words, so that the sum is exact except for a sticky last bit.

#include "legalize/float_format.h"
#include "legalize/soft.h"

namespace vyre::emit_exact {
namespace {

struct Double {
  Term high, low;
};

Double pick(const Term& c, const Double& yes, const Double& no) {
  return {select(c, yes.high, no.high), select(c, yes.low, no.low)};
}

/// x >> n, the last bit set if anything was lost. n: any number below 2^width; shifts mod width.
Double shift_right(const Double& x, const Term& n) {
  TermBuilder& c = *n.code;
  const Type w = n.type;
  const uint32_t width = width_of(w);
  const Term zero = c.constant(w, 0);
  // By whole words, then by the rest.
  const Term far = n >= width;
  const Double y = {select(far, zero, x.high), select(far, x.high, x.low)};
  const Term lost_word = select(far, x.low, zero);
  const Term rest = n & (width - 1);
  const Term back = (width - rest) & (width - 1);
  // Named in order: the evaluation order of arguments is unspecified.
  const Term from_high = y.high << back;
  const Term carried = select(rest == 0, zero, from_high);
  const Term low = (y.low >> rest) | carried;
  const Term from_low = y.low << back;
  const Term lost = select(rest == 0, zero, from_low) | lost_word;
  const Term beyond = n >= 2 * width;  // nothing but the last bit is left
  const Term some = one_if(w, (x.high | x.low) != 0);
  return {select(beyond, zero, y.high >> rest), select(beyond, some, low | one_if(w, lost != 0))};
}

/// x << n; n below 2 * width.
Double shift_left(const Double& x, const Term& n) {
  TermBuilder& c = *n.code;
  const uint32_t width = width_of(n.type);
  const Term zero = c.constant(n.type, 0);
  const Term far = n >= width;
  const Double y = {select(far, x.low, x.high), select(far, zero, x.low)};
  const Term rest = n & (width - 1);
  const Term from_low = y.low >> ((width - rest) & (width - 1));
  const Term carried = select(rest == 0, zero, from_low);
  return {(y.high << rest) | carried, y.low << rest};
}

Double subtract(const Double& x, const Double& y) {
  const Term borrow = one_if(x.low.type, x.low < y.low);
  return {x.high - y.high - borrow, x.low - y.low};
}

Double add(const Double& x, const Double& y) {
  const Term low = x.low + y.low;
  const Term carry = one_if(low.type, low < x.low);
  return {x.high + y.high + carry, low};
}

struct Factor {
  Term significand, exponent;
};

Factor to_the_top(const Term& magnitude, const Shape& s) {
  TermBuilder& c = *magnitude.code;
  const Term field = magnitude >> s.fraction;
  const Term leading = select(field == 0, c.constant(s.word, 0), s.top());
  const Term word = (magnitude << s.spare) | leading;
  const Term n = clz(word);
  return {word << n, as(s.number, max(field, c.constant(s.word, 1)) - n)};
}

}  // namespace

Term soft_fma(const Term& a, const Term& b, const Term& c) {
  const Shape s = shape_of(a.type);
  TermBuilder& code = *a.code;
  const Term ma = a & s.magnitude, mb = b & s.magnitude, mc = c & s.magnitude;
  const Term sign = (a ^ b) & s.sign;
  const Factor x = to_the_top(ma, s), y = to_the_top(mb, s), z = to_the_top(mc, s);

  // Both one bit below the top of two words, so that the sum has room; nothing is lost by that. A
  // zero is as small as possible, so that it is the one that is shifted.
  const Term high = mulhi(x.significand, y.significand), low = x.significand * y.significand;
  const Term upper = high >> 1, carried = high << (s.width - 1);
  const Double p = {upper, (low >> 1) | carried};
  const Double q = {z.significand >> 1, code.constant(s.word, 0)};
  const uint64_t least = low_mask(s.width) - 8 * s.bias + 1;
  const Term exponent_of_product = x.exponent + y.exponent - (s.bias - 1);
  const Term ep = select(high == 0, least, exponent_of_product);
  const Term eq = select(mc == 0, least, z.exponent);

  const Term first = ep >= eq;
  const Term up = eq - ep;
  const Term distance = as(s.word, select(first, ep - eq, up));
  const Double large = pick(first, p, q), small = shift_right(pick(first, q, p), distance);
  const Term apart = ((sign ^ c) & s.sign) != 0;
  const Double total = add(large, small);
  // With equal exponents (or a product below 2) the second may be larger after all.
  const Double forth = subtract(large, small), back = subtract(small, large);
  const Term low_below = large.low < small.low;
  const Term tied_below = (large.high == small.high) & low_below;
  const Term below = (large.high < small.high) | tied_below;
  const Double sum = pick(apart, pick(below, back, forth), total);
  const Term sign_of_large = select(first, sign, c & s.sign);
  const Term flipped = select(apart & below, code.constant(s.word, s.sign), 0);

  const Term empty = sum.high == 0;
  const Term of_high = clz(sum.high);
  const Term n = select(empty, clz(sum.low) + s.width, of_high);
  const Term none_left = empty & (sum.low == 0);
  const Double normal = shift_left(sum, n & (2 * s.width - 1));
  const Term significand = normal.high | one_if(s.word, normal.low != 0);
  const Term shifted = as(s.number, n);
  const Term exponent = select(first, ep, eq) + 1 - shifted;
  const Term sign_of_rest = sign_of_large ^ flipped;
  const Term sign_of_sum = select(none_left, sign & c & s.sign, sign_of_rest);
  const Term finite = round_to_float(significand, exponent) | sign_of_sum;

  const Term product_infinite = max(ma, mb) == s.infinity;
  const Term opposed = (mc == s.infinity) & apart;
  const Term undefined = product_infinite & ((min(ma, mb) == 0) | opposed);
  const Term nan = (max(max(ma, mb), mc) > s.infinity) | undefined;
  const Term special = select(nan, s.nan, select(product_infinite, sign | s.infinity, c));
  return select(max(max(ma, mb), mc) >= s.infinity, special, finite);
}

}  // namespace vyre::emit_exact
