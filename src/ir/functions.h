#pragma once

// The library's f32 transcendental functions, written once over an "algebra".
//
//   exp exp2 log log2 sin cos tan tanh pow atan2
//
// Each is a template over a class A that defines what a value is and what an
// operation does. With functions_native.h's NativeAlgebra the template computes;
// with an algebra whose operations append IR instructions the same source
// emits the function's body. So one text is both the reference and the
// lowering, and every device runs the same sequence of exactly specified
// operations: the results are equal bit for bit.
//
// Promise: at most 2 ulp from the exact result for every f32 input (subnormal
// inputs and results included), special values as in C's Annex F. The measured
// worst errors and the operation counts are in docs/functions.md.
// A NaN result may have any payload and sign.
//
// Hence the text below has no f64, and no branch, loop or index that depends on
// a value (only select).
//
// The algebra A
// -------------
// Types: A::F (f32), A::U (u32), A::I (i32), A::B (bool). They may be one and
// the same C++ type when the algebra tracks types itself (an IR value handle):
// overloads differ only in the kinds of their operands, and every operation's
// kind follows from its operands' kinds.
//
// Constants:  f(float) u(uint32_t) i(int32_t)
// f32:        add sub mul div fma neg abs min max floor round trunc
//             Correctly rounded to nearest even, subnormals kept on the way in
//             and out, never contracted. round goes to the nearest integer,
//             ties to even. min and max ignore one NaN, and order -0 below +0.
// u32, i32:   add sub mul, wrapping; mulhi (u32: the product's upper half);
//             and_ or_ xor_ (u32); shl (u32), shr (u32 logical, i32
//             arithmetic), the count of the same type, taken modulo 32
// Compare:    lt le gt ge eq ne on two F, two U or two I, giving B; all but ne
//             are false with a NaN
// Booleans:   band bor bnot
// Choice:     select(B, yes, no) on F, U, I; both sides are already computed
// Bit casts:  f_of(U) u_of(F) u_of(I) i_of(F) i_of(U)
// Converts:   f_from_i(I) rounding to nearest even;
//             i_from_f(F) towards zero, saturating, NaN to 0
//
// Not all of it is in use today (trunc, round, le, i32 mul are not): the list
// is what an algebra must provide so that the functions may change. A bit cast
// may make any NaN canonical; nothing here depends on a NaN's bits.
//
// Order: an algebra that records operations (src/ir/expand_functions.cc) gets
// them in the same order from every C++ compiler, though a compiler may evaluate
// a call's arguments in any order: of the arguments of a call below at most one
// makes operations, all others are names or constants. A recording algebra makes
// a constant when an operation uses it, not when it is named.
//
// The polynomials are our own: minimax fits of the stated form (Remez exchange
// at 160 bits), coefficients rounded to f32; those of exp, exp2, log, log2, sin,
// cos and tanh then improved by a search over neighbouring f32 values against
// the error measured in f32 arithmetic.
#include <concepts>
#include <cstdint>
#include <limits>

// A loop over lanes vectorizes only if nothing in it is a call.
#define VYRE_INLINED [[gnu::always_inline]] inline

namespace vyre::functions {

namespace detail {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::uint32_t kSignBit = 0x80000000u;
inline constexpr std::uint32_t kMantissaBits = 0x007fffffu;
inline constexpr float kSmallestNormal = 0x1p-126f;

// Added to |v| < 2^22, leaves v rounded to an integer in the sum's low mantissa
// bits (two's complement), ready to be shifted into an exponent; subtracted
// again, gives that integer as f32. Cheaper than round and a conversion.
inline constexpr float kRoundingShift = 0x1.8p+23f;

// Horner's rule with fma, highest power first. The fold expression unrolls it
// in the front end: a loop inside a loop over lanes would prevent vectorization.
template <class A, std::same_as<float>... Lower>
VYRE_INLINED typename A::F polynomial(A& a, typename A::F x, float highest, Lower... lower) {
  typename A::F sum = a.f(highest);
  ((sum = a.fma(sum, x, a.f(lower))), ...);
  return sum;
}

template <class A>
VYRE_INLINED typename A::F with_sign_flipped_by(A& a, typename A::F value,
                                                typename A::U sign_bits) {
  const auto sign = a.and_(sign_bits, a.u(kSignBit));
  return a.f_of(a.xor_(a.u_of(value), sign));
}

// value * 4^n, where shifted = kRoundingShift + n and |n| <= 126.
//
// exp, exp2 and pow take out an even power of two: 2^-150..2^128 does not fit one f32 factor, but
// 2^-75..2^64 does, and then multiplying by it twice covers all results with no select. The first
// product is exact (the value is near 1 and n >= -81: no underflow), so a subnormal result is
// rounded once.
template <class A>
VYRE_INLINED typename A::F scale_by_4_to(A& a, typename A::F value, typename A::F shifted) {
  // The shift drops everything of kRoundingShift's bits but n's.
  const auto factor = a.f_of(a.add(a.shl(a.u_of(shifted), a.u(23)), a.u(0x3f800000u)));
  return a.mul(a.mul(value, factor), factor);
}

// 2^t for t in [-1, 1]. All coefficients are positive, so that for larger t it
// grows to +inf, which exp2 relies on for its overflow.
template <class A>
VYRE_INLINED typename A::F exp2_near_zero(A& a, typename A::F t) {
  return polynomial(a, t, 0x1.fa8d74p-17f, 0x1.47d3a4p-13f, 0x1.5da488p-10f, 0x1.3b2116p-7f,
                    0x1.c6b00ap-5f, 0x1.ebfbf6p-3f, 0x1.62e432p-1f, 1.0f);
}

// x = 2^exponent * mantissa with mantissa in [lowest, 2 lowest), for positive
// finite x (the result for other x is meaningless but harmless).
template <class A>
struct Split {
  typename A::F exponent;
  typename A::F mantissa;
};

template <class A>
VYRE_INLINED Split<A> split(A& a, typename A::F x, std::uint32_t lowest_bits) {
  // A subnormal is brought into the normal range by 2^24; taking 24 more from
  // its exponent field undoes that in the exponent and, as only the mantissa
  // bits are kept of the difference, leaves the mantissa alone.
  const auto subnormal = a.lt(x, a.f(kSmallestNormal));
  const auto normal = a.select(subnormal, a.mul(x, a.f(0x1p24f)), x);
  const auto start = a.select(subnormal, a.u(lowest_bits + (24u << 23)), a.u(lowest_bits));
  const auto distance = a.sub(a.u_of(normal), start);
  const auto exponent = a.f_from_i(a.shr(a.i_of(distance), a.i(23)));
  const auto mantissa = a.f_of(a.add(a.and_(distance, a.u(kMantissaBits)), a.u(lowest_bits)));
  return {exponent, mantissa};
}

// The bits of 2/3: with mantissas in [2/3, 4/3) the distance from 1 is at most
// 1/3 on both sides.
inline constexpr std::uint32_t kTwoThirdsBits = 0x3f2aaaabu;

// The values a logarithm has outside the positive finite numbers.
template <class A>
VYRE_INLINED typename A::F log_or_special(A& a, typename A::F x, typename A::F logarithm) {
  const auto finite = a.select(a.lt(x, a.f(kInfinity)), logarithm, x);
  const auto not_positive = a.select(a.eq(x, a.f(0.0f)), a.f(-kInfinity), a.f(kNaN));
  return a.select(a.gt(x, a.f(0.0f)), finite, not_positive);
}

// An angle |x| = (quadrant + fraction) * pi/2 with fraction in [-1/2, 1/2],
// or, for |x| < 1, in quadrant 0 with r = |x|.
template <class A>
struct Quadrant {
  typename A::F r;      // fraction * pi/2, or |x|
  typename A::F r_low;  // the error of r, if kLowPart
  typename A::U bits;   // the quadrant's two bits are bits 31 and 30
  typename A::F magnitude;
};

// Payne and Hanek's reduction, in integers.
//
// |x| = M * 2^(E-23) with M of 24 bits and, from 1 up, 0 <= E <= 127. Of the
// binary digits of 2/pi only 96 matter: those further left give multiples of
// four quadrants, those further right less than 2^-70 of one. So
// |x| * 2/pi = M * W * 2^-94 modulo 4, where W is the 96 bits that begin at bit
// E of the constant below (whose first 25 bits are zeros). The product's upper
// 64 bits are two for the quadrant and 62 of fraction. No f32 from 1 up is
// nearer to a multiple of pi/2 than 2^-29.9 quadrants (found by trying all), so
// the fraction down to 2^-56 has 26 good bits at worst.
//
// Below 1 the fixed point fraction would lose digits, and no reduction is
// needed: the polynomials reach to 1.
template <bool kLowPart, class A>
VYRE_INLINED Quadrant<A> reduce_to_quadrant(A& a, typename A::F x) {
  using U = typename A::U;
  // floor(2/pi * 2^199), most significant word first.
  const std::uint32_t two_over_pi[7] = {0x00000051u, 0x7cc1b727u, 0x220a94feu, 0x13abe8fau,
                                        0x9a6ee06du, 0xb14acc9eu, 0x21c820ffu};
  const auto magnitude = a.abs(x);
  const auto above_one = a.sub(a.u_of(magnitude), a.u(0x3f800000u));
  const auto exponent = a.shr(above_one, a.u(23));
  const auto mantissa = a.or_(a.and_(above_one, a.u(kMantissaBits)), a.u(0x00800000u));

  // Skip whole words: two for E >= 64, one more for the next bit of E.
  const auto skip_two = a.ge(above_one, a.u(64u << 23));
  const auto skip_one = a.ne(a.and_(above_one, a.u(32u << 23)), a.u(0));
  auto two_on = [&](int word) {
    return a.select(skip_two, a.u(two_over_pi[word + 2]), a.u(two_over_pi[word]));
  };
  const U five[5] = {two_on(0), two_on(1), two_on(2), two_on(3), two_on(4)};
  auto one_on = [&](int word) { return a.select(skip_one, five[word + 1], five[word]); };
  const U four[4] = {one_on(0), one_on(1), one_on(2), one_on(3)};

  // Then the remaining E mod 32 bits. Shift counts count modulo 32, so the
  // right shift by 32 - E is split in 1 and 31 - E, good for E mod 32 = 0 too.
  const auto complement = a.xor_(exponent, a.u(31));
  auto window = [&](int word) {
    const auto left = a.shl(four[word], exponent);
    return a.or_(left, a.shr(a.shr(four[word + 1], a.u(1)), complement));
  };
  const U w0 = window(0);
  const U w1 = window(1);
  const U w2 = window(2);

  // high is in units of 2^-30 quadrants, low in units of 2^-56. Without the six lowest bits the sum
  // has no carry and room for the next step; they would count for half an ulp at the very worst.
  const auto whole = a.mul(mantissa, w0);
  const auto high = a.add(whole, a.mulhi(mantissa, w1));
  const auto upper_part = a.shr(a.mul(mantissa, w1), a.u(6));
  const auto low = a.add(upper_part, a.shr(a.mulhi(mantissa, w2), a.u(6)));

  // Dropping the quadrant's bits leaves a signed fraction in units of 2^-32. What f32 cannot hold
  // of it, at most 64, goes to the tail (in units of 2^-56 again), and the product with pi/2 is
  // formed with a two part constant: r is rounded once.
  const auto fraction = a.shl(high, a.u(2));
  const auto head = a.f_from_i(a.i_of(fraction));
  const auto lost = a.sub(fraction, a.u_of(a.i_from_f(head)));
  const auto tail = a.f_from_i(a.i_of(a.add(a.shl(lost, a.u(24)), low)));
  const float half_pi_high = 0x1.921fb6p-32f;
  const float half_pi_low = -0x1.777a5cp-57f;
  const auto inner = a.fma(head, a.f(half_pi_low), a.mul(tail, a.f(half_pi_high * 0x1p-24f)));
  const auto r = a.fma(head, a.f(half_pi_high), inner);

  const auto small = a.lt(magnitude, a.f(1.0f));
  auto r_low = a.f(0.0f);
  if constexpr (kLowPart) {
    // r - head * half_pi_high is about inner, and as good as exact.
    const auto low_part = a.sub(inner, a.fma(head, a.f(-half_pi_high), r));
    r_low = a.select(small, r_low, low_part);
  }
  // Adding half a quadrant rounds the quadrant to nearest.
  const auto rounded = a.add(high, a.u(0x20000000u));
  const auto angle = a.select(small, magnitude, r);
  const auto bits = a.select(small, a.u(0), rounded);
  return {angle, r_low, bits, magnitude};
}

// sin(|x| + quadrants_ahead * pi/2) is value, to be negated when bit 31 of sign is set.
template <class A>
struct Sine {
  typename A::F value;
  typename A::U sign;
};

template <class A>
VYRE_INLINED Sine<A> sine_of_quadrant(A& a, const Quadrant<A>& angle,
                                      std::uint32_t quadrants_ahead) {
  const auto r = angle.r;
  const auto square = a.mul(r, r);
  // r + r^3 P(r^2) and 1 + r^2 P(r^2), both good to |r| = 1.
  const auto cube = a.mul(r, square);
  const auto p = polynomial(a, square, -0x1.94b0ap-13f, 0x1.10f712p-7f, -0x1.55551ep-3f);
  const auto sine = a.fma(cube, p, r);
  const auto cosine = polynomial(a, square, 0x1.93dff6p-16f, -0x1.6be94ep-10f, 0x1.5554cap-5f,
                                 -0x1.fffffep-2f, 1.0f);
  const auto quadrant =
      quadrants_ahead == 0 ? angle.bits : a.add(angle.bits, a.u(quadrants_ahead << 30));
  const auto odd = a.ne(a.and_(quadrant, a.u(0x40000000u)), a.u(0));
  const auto value = a.select(odd, cosine, sine);
  return {a.select(a.lt(angle.magnitude, a.f(kInfinity)), value, a.f(kNaN)), quadrant};
}

}  // namespace detail

// 2^x = 4^n * 2^t with n = round(x / 2) and t = x - 2n in [-1, 1], exact.
template <class A>
VYRE_INLINED typename A::F exp2(A& a, typename A::F x) {
  // Below, the result is 0 anyway. A select keeps a NaN, which max would not.
  const auto low = a.f(-152.0f);
  const auto bounded = a.select(a.lt(x, low), low, x);
  // Above, n stops at 65 and t grows instead: the result is +inf.
  const auto shifted = a.min(a.fma(bounded, a.f(0.5f), a.f(detail::kRoundingShift)),
                             a.f(detail::kRoundingShift + 65.0f));
  const auto n = a.sub(shifted, a.f(detail::kRoundingShift));
  const auto t = a.fma(n, a.f(-2.0f), bounded);
  return detail::scale_by_4_to(a, detail::exp2_near_zero(a, t), shifted);
}

// e^x = 4^n * e^t with n = round(x / ln 4), t = x - n ln 4 in [-ln 2, ln 2].
template <class A>
VYRE_INLINED typename A::F exp(A& a, typename A::F x) {
  const auto low = a.f(-105.0f);
  const auto bounded = a.select(a.lt(x, low), low, x);
  const auto shifted = a.min(a.fma(bounded, a.f(0x1.715476p-1f), a.f(detail::kRoundingShift)),
                             a.f(detail::kRoundingShift + 65.0f));
  const auto n = a.sub(shifted, a.f(detail::kRoundingShift));
  // ln 4 in two parts; n times the first, of 15 bits, is exact, and so is the
  // first difference.
  const auto near = a.fma(n, a.f(-0x1.62e4p+0f), bounded);
  const auto t = a.fma(n, a.f(-0x1.7f7d1cp-19f), near);
  const auto power = detail::polynomial(a, t, 0x1.9bf79p-13f, 0x1.71fd3cp-10f, 0x1.1126acp-7f,
                                        0x1.554912p-5f, 0x1.55550ep-3f, 0x1.00000cp-1f, 1.0f, 1.0f);
  return detail::scale_by_4_to(a, power, shifted);
}

// log(2^k (1 + t)) = k ln 2 + t + t^2 P(t), |t| <= 1/3. ln 2 happens to be so
// near an f32 (2^-28 relative) that one constant will do.
template <class A>
VYRE_INLINED typename A::F log(A& a, typename A::F x) {
  const auto parts = detail::split(a, x, detail::kTwoThirdsBits);
  const auto t = a.sub(parts.mantissa, a.f(1.0f));
  const auto p =
      detail::polynomial(a, t, 0x1.1ef3dcp-3f, -0x1.3b718ep-3f, 0x1.1ea23p-3f, -0x1.502c24p-3f,
                         0x1.99d602p-3f, -0x1.001468p-2f, 0x1.5554eap-2f, -0x1.ffffd8p-2f);
  const auto near_one = a.fma(a.mul(t, t), p, t);
  return detail::log_or_special(a, x, a.fma(parts.exponent, a.f(0x1.62e43p-1f), near_one));
}

// log2(2^k (1 + t)) = k + t + t P(t), |t| <= 1/3. Taking the coefficient of t
// as 1 + 0.44 instead of 1.44 makes its rounding count for less.
template <class A>
VYRE_INLINED typename A::F log2(A& a, typename A::F x) {
  const auto parts = detail::split(a, x, detail::kTwoThirdsBits);
  const auto t = a.sub(parts.mantissa, a.f(1.0f));
  const auto p = detail::polynomial(a, t, 0x1.adc90ap-3f, -0x1.c8c652p-3f, 0x1.9a33fp-3f,
                                    -0x1.e4aff6p-3f, 0x1.27bd36p-2f, -0x1.7174a4p-2f,
                                    0x1.ec6f7ap-2f, -0x1.71544cp-1f, 0x1.c551dap-2f);
  const auto near_one = a.fma(t, p, t);
  return detail::log_or_special(a, x, a.add(parts.exponent, near_one));
}

template <class A>
VYRE_INLINED typename A::F sin(A& a, typename A::F x) {
  const auto angle = detail::reduce_to_quadrant<false>(a, x);
  const auto sine = detail::sine_of_quadrant(a, angle, 0);
  return detail::with_sign_flipped_by(a, sine.value, a.xor_(sine.sign, a.u_of(x)));
}

// cos(x) = sin(|x| + pi/2).
template <class A>
VYRE_INLINED typename A::F cos(A& a, typename A::F x) {
  const auto angle = detail::reduce_to_quadrant<false>(a, x);
  const auto sine = detail::sine_of_quadrant(a, angle, 1);
  return detail::with_sign_flipped_by(a, sine.value, sine.sign);
}

// tan(|x|) is tan(r) in the even quadrants and -1 / tan(r) in the odd ones. Near
// r = pi/4 an error in r counts double, so the part r lacks is carried along.
template <class A>
VYRE_INLINED typename A::F tan(A& a, typename A::F x) {
  const auto angle = detail::reduce_to_quadrant<true>(a, x);
  const auto r = angle.r;
  const auto square = a.mul(r, r);
  const auto p = detail::polynomial(a, square, 0x1.550968p-8f, -0x1.569d92p-7f, 0x1.200788p-6f,
                                    -0x1.1fc14cp-14f, 0x1.9afb0ap-6f, 0x1.b4f7eap-5f, 0x1.112fbp-3f,
                                    0x1.5554dap-2f);
  // tan(r + r_low) = tan(r) + r_low (1 + tan^2(r)), where 1 + r^2 is near enough.
  const auto low = a.fma(angle.r_low, square, angle.r_low);
  const auto tangent = a.add(r, a.fma(a.mul(r, square), p, low));
  const auto odd = a.ne(a.and_(angle.bits, a.u(0x40000000u)), a.u(0));
  const auto above = a.select(odd, a.f(-1.0f), tangent);
  const auto below = a.select(odd, tangent, a.f(1.0f));
  const auto value = a.div(above, below);
  const auto checked =
      a.select(a.lt(angle.magnitude, a.f(detail::kInfinity)), value, a.f(detail::kNaN));
  return detail::with_sign_flipped_by(a, checked, a.u_of(x));
}

// tanh|x| = (1 - g) / (1 + g) with g = exp(-2|x|) in (0, 1]. With
// 2|x| = 2t - n ln 2, |t| <= ln 2 / 4, g = 2^n - 2^n d with d = 1 - exp(-2t): for
// small |x| n is 0 and 1 - g = d keeps its relative precision, so one formula
// serves all x. 1 - 2^n and 1 + 2^n are exact as far as they matter, so numerator
// and denominator are rounded once each. (With exp(+2|x|), or with the
// denominator taken from the numerator, f32 is too coarse here or there: 2.4
// ulp.)
template <class A>
VYRE_INLINED typename A::F tanh(A& a, typename A::F x) {
  const auto magnitude = a.abs(x);
  // From 9.02 on the result is 1. A select keeps a NaN, which min would not.
  const auto high = a.f(10.0f);
  const auto bounded = a.select(a.gt(magnitude, high), high, magnitude);
  const auto shifted = a.fma(bounded, a.f(-0x1.715476p+1f), a.f(detail::kRoundingShift));
  const auto n = a.sub(shifted, a.f(detail::kRoundingShift));
  // ln 2 / 2 in two parts, the first of 17 bits.
  const auto near = a.fma(n, a.f(0x1.62e44p-2f), bounded);
  const auto t = a.fma(n, a.f(-0x1.0105c6p-22f), near);
  const auto p = detail::polynomial(a, t, -0x1.6bec0ap-5f, 0x1.122decp-3f, -0x1.555674p-2f,
                                    0x1.5554aap-1f, -1.0f);
  const auto half_d = a.fma(a.mul(t, t), p, t);
  const auto doubled_power = a.f_of(a.add(a.shl(a.u_of(shifted), a.u(23)), a.u(0x40000000u)));
  const auto scaled_d = a.mul(doubled_power, half_d);
  const auto above = a.add(a.fma(doubled_power, a.f(-0.5f), a.f(1.0f)), scaled_d);
  const auto below = a.sub(a.fma(doubled_power, a.f(0.5f), a.f(1.0f)), scaled_d);
  const auto value = a.div(above, below);
  return detail::with_sign_flipped_by(a, value, a.u_of(x));
}

// |x|^y = 2^(y log2|x|). The exponent goes up to 128 and its absolute error is
// the result's relative one, so the logarithm needs some 31 good bits and is
// kept in two f32 parts.
//
// log2|x| = k - log2(c) + log2(1 + t), 1 + t = c m: c is one of four multiples
// of 1/16 picked so that |t| <= 0.12. That leaves t exact (c m has 24 + 4 bits
// and at least the upper four cancel) and t^3 P(t) so small beside log2|x| (some
// 2^-9) that f32 arithmetic will do for it. t - t^2/2 is exact in two parts.
// Around 1, where log2|x| is smallest, the class of c = 1 is kept narrow.
template <class A>
VYRE_INLINED typename A::F pow(A& a, typename A::F x, typename A::F y) {
  const auto magnitude = a.abs(x);

  // [16/17, 32/17): where the class of c = 9/16 ends and that of 1 begins (for the next k).
  const auto parts = detail::split(a, magnitude, 0x3f70f0f1u);
  const auto m = parts.mantissa;
  const auto below_first = a.lt(m, a.f(32.0f / 30.0f));
  const auto below_second = a.lt(m, a.f(32.0f / 25.0f));
  const auto below_third = a.lt(m, a.f(32.0f / 20.0f));
  auto by_class = [&](float c16, float c14, float c11, float c9) {
    return a.select(below_first, a.f(c16),
                    a.select(below_second, a.f(c14), a.select(below_third, a.f(c11), a.f(c9))));
  };
  const auto c = by_class(1.0f, 0.875f, 0.6875f, 0.5625f);
  // -log2(c): 15 bits, so that adding k is exact, and the rest.
  const auto c_log_high = by_class(0.0f, 0x1.8a9p-3f, 0x1.14c4p-1f, 0x1.a9p-1f);
  const auto c_log_low = by_class(0.0f, -0x1.9fd502p-17f, 0x1.60fe68p-17f, -0x1.a39fbep-19f);
  const auto t = a.fma(m, c, a.f(-1.0f));

  // log2(1 + t) = log2(e) (t - t^2/2) + t^3 P(t). The first term is
  // scaled - scaled_excess.
  const float log2_e = 0x1.715476p+0f;
  const float log2_e_low = 0x1.4ae0cp-26f;
  const auto minus_half = a.mul(t, a.f(-0.5f));
  const auto high = a.fma(minus_half, t, t);
  const auto low = a.fma(minus_half, t, a.sub(t, high));
  const auto scaled = a.mul(high, a.f(log2_e));
  const auto scaled_excess =
      a.fma(low, a.f(-log2_e), a.fma(high, a.f(-log2_e_low), a.fma(high, a.f(-log2_e), scaled)));
  const auto p = detail::polynomial(a, t, -0x1.7a8fbap-3f, 0x1.af0264p-3f, -0x1.ec5aa6p-3f,
                                    0x1.276dc8p-2f, -0x1.71547ep-2f, 0x1.ec70a2p-2f);

  // k - log2(c) added: sum + rest. The fast exact addition is good because
  // `whole` is 0 or larger than the other term. rest holds t^3 P(t) and so is
  // small, not tiny: it is rounded only once after everything tiny is in it.
  const auto whole = a.add(parts.exponent, c_log_high);
  const auto sum = a.add(whole, scaled);
  const auto lost = a.sub(scaled, a.sub(sum, whole));
  const auto tiny = a.add(lost, a.sub(c_log_low, scaled_excess));
  const auto rest = a.fma(a.mul(a.mul(t, t), t), p, tiny);

  // A logarithm of -inf for 0 and +inf for inf makes the product, and so the
  // result, right for every power's sign.
  const auto infinite = a.eq(magnitude, a.f(detail::kInfinity));
  const auto logarithm =
      a.select(infinite, a.f(detail::kInfinity),
               a.select(a.eq(magnitude, a.f(0.0f)), a.f(-detail::kInfinity), sum));

  // An infinite power times log2|-1| would be NaN; 2^40 is as good as infinite
  // beside the least other |log2|, 2^-25.
  const auto power = a.min(a.max(y, a.f(-0x1p40f)), a.f(0x1p40f));
  const auto product = a.mul(power, logarithm);
  const auto product_low = a.fma(power, rest, a.fma(power, logarithm, a.neg(product)));
  // Out of range the lower part is noise or NaN and only has to stay small.
  const auto exponent = a.min(a.max(product, a.f(-160.0f)), a.f(160.0f));
  const auto exponent_low = a.min(a.max(product_low, a.f(-1.0f)), a.f(1.0f));

  // From here as in exp2, the lower part joining when the exponent is small.
  const auto shifted = a.fma(a.add(exponent, exponent_low), a.f(0.5f), a.f(detail::kRoundingShift));
  const auto n = a.sub(shifted, a.f(detail::kRoundingShift));
  const auto near = a.fma(n, a.f(-2.0f), exponent);
  const auto value =
      detail::scale_by_4_to(a, detail::exp2_near_zero(a, a.add(near, exponent_low)), shifted);

  // An infinite power counts as an even integer here, as Annex F has it.
  const auto half = a.mul(y, a.f(0.5f));
  const auto whole_power = a.eq(a.floor(y), y);
  const auto odd = a.band(whole_power, a.ne(a.floor(half), half));
  const auto value_signed =
      detail::with_sign_flipped_by(a, value, a.select(odd, a.u_of(x), a.u(0)));
  // Only a finite negative base needs an integer power.
  const auto negative = a.lt(x, a.f(0.0f));
  const auto no_root = a.band(negative, a.bnot(a.bor(whole_power, infinite)));
  const auto base_is_nan = a.ne(x, x);
  const auto unordered = a.bor(base_is_nan, a.ne(y, y));
  const auto number = a.select(a.bor(no_root, unordered), a.f(detail::kNaN), value_signed);
  // pow(x, 0) and pow(1, y) are 1 even for NaN.
  const auto to_zero = a.eq(y, a.f(0.0f));
  const auto one = a.bor(to_zero, a.eq(x, a.f(1.0f)));
  return a.select(one, a.f(1.0f), number);
}

// The angle is reduced to atan(q) with q = min(|x|, |y|) / max(|x|, |y|) in
// [0, 1]; the octant then says from which multiple of pi/2 it is measured and
// in which direction.
template <class A>
VYRE_INLINED typename A::F atan2(A& a, typename A::F y, typename A::F x) {
  const auto width = a.abs(x);
  const auto height = a.abs(y);
  // 0/0 is kept from happening (q = 0), inf/inf is NaN, which min makes 1.
  const auto larger = a.max(a.max(width, height), a.f(std::numeric_limits<float>::denorm_min()));
  const auto q = a.min(a.div(a.min(width, height), larger), a.f(1.0f));
  const auto square = a.mul(q, q);
  const auto p =
      detail::polynomial(a, square, 0x1.7ebf14p-9f, -0x1.0c221p-6f, 0x1.61f546p-5f, -0x1.3552ep-4f,
                         0x1.b4df46p-4f, -0x1.230a9cp-3f, 0x1.9978ecp-3f, -0x1.5554dcp-2f);
  const auto octant = a.fma(a.mul(q, square), p, q);

  const auto steep = a.gt(height, width);
  const auto left = a.lt(a.i_of(x), a.i(0));  // -0 included
  const auto from =
      a.select(steep, a.f(0x1.921fb6p+0f), a.select(left, a.f(0x1.921fb6p+1f), a.f(0.0f)));
  const auto away = a.select(steep, a.neg(octant), octant);
  const auto turned = detail::with_sign_flipped_by(a, away, a.u_of(x));
  // pi and pi/2 lack the same part of themselves as f32; it is added with the
  // small term.
  const auto angle = a.add(from, a.fma(from, a.f(-0x1.de12ccp-26f), turned));
  const auto value = detail::with_sign_flipped_by(a, angle, a.u_of(y));
  const auto both = a.add(width, height);
  return a.select(a.ne(both, both), a.f(detail::kNaN), value);
}

}  // namespace vyre::functions

#undef VYRE_INLINED
