#include "legalize/wide.h"

namespace vyre::emit_exact {
namespace {

Term carry(const Term& c) { return one_if(Type::U32, c); }
Term sign_of(const Term& high) { return as(Type::U32, as(Type::I32, high) >> 31); }
/// x >> (32 - n) for n below 32, without a shift by 32.
Term above(const Term& x, const Term& n) { return (x >> 1) >> (n ^ 31); }
Term below(const Term& x, const Term& n) { return (x << 1) << (n ^ 31); }

/// The full product of two words.
Pair product(const Term& a, const Term& b) { return {a * b, mulhi(a, b)}; }

/// One digit of 16 bits of the quotient of (rest, next digit) by a normalized divisor: the estimate
/// from the divisor's first digit is at most two too large.
struct Digit {
  Term digit, rest;
};
Digit next_digit(const Term& rest, const Term& next, const Term& divisor) {
  const Term first = divisor >> 16, second = divisor & 0xffff;
  Term q = quotient(rest, first);
  Term r = rest - q * first;
  for (int i = 0; i < 2; ++i) {
    // Named in order: the evaluation order of arguments is unspecified.
    const Term left = (r << 16) | next;
    const Term too_much = q * second > left;
    const Term too_large = (q > 0xffff) | too_much;
    const Term over = (r < 0x10000) & too_large;
    q = select(over, q - 1, q);
    r = select(over, r + first, r);
  }
  const Term taken = q * divisor;
  return {q, ((rest << 16) | next) - taken};
}

/// (high, low) / divisor, where high < divisor and the divisor's top bit is set.
Term quotient_word(const Term& high, const Term& low, const Term& divisor) {
  const Digit upper = next_digit(high, low >> 16, divisor);
  const Digit lower = next_digit(upper.rest, low & 0xffff, divisor);
  return (upper.digit << 16) | lower.digit;
}

Pair unsigned_quotient(const Pair& a, const Pair& b) {
  TermBuilder& c = *a.low.code;
  const Term zero = c.constant(Type::U32, 0);
  // A divisor of one word: the quotient's upper word, then the lower one from the remainder. A
  // divisor of two words: the quotient is one word. Computed from the divisor's first 32 bits and
  // half of the dividend, it is right or one too large.
  const Term one_word = b.high == 0;
  const Term n = clz(select(one_word, b.low, b.high));
  const Term carried = above(b.low, n);
  const Term top = (b.high << n) | carried;
  const Term divisor = select(one_word, b.low << n, top);
  const Term upper = quotient(a.high, b.low);
  const Term rest = a.high - upper * b.low;
  const Pair half = shift_right(a, c.constant(Type::U32, 1), false);
  const Term next = above(a.low, n);
  const Term high = select(one_word, (rest << n) | next, half.high);
  const Term low = select(one_word, a.low << n, half.low);
  const Term word = quotient_word(high, low, divisor);

  const Term estimate = word >> (31 - n);
  const Term one_less = estimate - 1;
  const Term least = select(estimate == 0, zero, one_less);
  const Term more = !less(a - Pair{least, zero} * b, b, false);
  return {select(one_word, word, least + carry(more)), select(one_word, upper, zero)};
}

}  // namespace

Pair pair_of(TermBuilder& c, uint64_t value) {
  return {c.constant(Type::U32, value), c.constant(Type::U32, value >> 32)};
}

Pair select(const Term& c, const Pair& yes, const Pair& no) {
  return {select(c, yes.low, no.low), select(c, yes.high, no.high)};
}

Pair widened(const Term& x) {
  TermBuilder& c = *x.code;
  if (x.type == Type::Bool) return {one_if(Type::U32, x), c.constant(Type::U32, 0)};
  if (!is_signed(x.type)) return {cast(Type::U32, x), c.constant(Type::U32, 0)};
  const Term low = as(Type::U32, cast(Type::I32, x));
  return {low, sign_of(low)};
}

Term is_zero(const Pair& x) { return (x.low | x.high) == 0; }
Term is_negative(const Pair& x) { return as(Type::I32, x.high) < 0; }

Pair operator+(const Pair& a, const Pair& b) {
  const Term low = a.low + b.low;
  const Term carried = carry(low < a.low);
  return {low, a.high + b.high + carried};
}

Pair operator-(const Pair& a, const Pair& b) {
  const Term low = a.low - b.low, borrowed = carry(a.low < b.low);
  return {low, a.high - b.high - borrowed};
}

Pair operator*(const Pair& a, const Pair& b) {
  const Pair p = product(a.low, b.low);
  const Term other = a.high * b.low;
  return {p.low, p.high + a.low * b.high + other};
}

Term operator==(const Pair& a, const Pair& b) {
  const Term high = a.high == b.high;
  return (a.low == b.low) & high;
}

Term less(const Pair& a, const Pair& b, bool is_signed) {
  const Type t = is_signed ? Type::I32 : Type::U32;
  const Term low_less = a.low < b.low;
  const Term tied_less = (a.high == b.high) & low_less;
  const Term bh = as(t, b.high), ah = as(t, a.high);
  return (ah < bh) | tied_less;
}

Pair high_product(const Pair& a, const Pair& b, bool is_signed) {
  TermBuilder& c = *a.low.code;
  const Term zero = c.constant(Type::U32, 0);
  const Pair cross = product(a.low, b.high), other = product(a.high, b.low);
  const Pair middle = cross + Pair{mulhi(a.low, b.low), zero};  // below 2^64
  const Pair sum = Pair{middle.low, zero} + Pair{other.low, zero};
  Pair high = product(a.high, b.high) + Pair{middle.high, zero} + Pair{other.high, zero} +
              Pair{sum.high, zero};
  if (!is_signed) return high;
  const Term sa = sign_of(a.high), sb = sign_of(b.high);
  const Pair for_b = {a.low & sb, a.high & sb}, for_a = {b.low & sa, b.high & sa};
  return high - for_a - for_b;
}

Pair shift_left(const Pair& x, const Term& n) {
  const Term far = (n & 32) != 0;
  const Term low = x.low << n, carried = above(x.low, n), high = (x.high << n) | carried;
  return {select(far, 0, low), select(far, low, high)};
}

Pair shift_right(const Pair& x, const Term& n, bool is_signed) {
  const Term far = (n & 32) != 0;
  const Term high =
      is_signed ? as(Type::U32, as(Type::I32, x.high) >> as(Type::I32, n)) : x.high >> n;
  const Term filled = is_signed ? sign_of(x.high) : n.code->constant(Type::U32, 0);
  if (far.is(1)) return {high, filled};
  const Term carried = below(x.high, n);
  const Term low = (x.low >> n) | carried;
  return {select(far, high, low), select(far, filled, high)};
}

Pair rotate_left(const Pair& x, const Term& n) {
  const Term far = (n & 32) != 0;
  const Pair y = select(far, Pair{x.high, x.low}, x);
  const Term from_high = above(y.high, n), low = (y.low << n) | from_high;
  const Term from_low = above(y.low, n), high = (y.high << n) | from_low;
  return {low, high};
}

Division divide(const Pair& a, const Pair& b, bool is_signed) {
  TermBuilder& c = *a.low.code;
  const Pair zero = pair_of(c, 0);
  const Term na = is_negative(a), nb = is_negative(b);
  const Pair x = is_signed ? select(na, zero - a, a) : a,
             y = is_signed ? select(nb, zero - b, b) : b;
  const Pair size = unsigned_quotient(x, y);
  Pair q = size;
  if (is_signed) {
    const Pair negated = zero - size;
    q = select(na ^ nb, negated, size);
  }
  const Term none = is_zero(b);
  return {select(none, is_signed ? zero : pair_of(c, ~0ull), q), select(none, zero, a - q * b)};
}

}  // namespace vyre::emit_exact
