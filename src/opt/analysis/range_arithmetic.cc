// The specified integer arithmetic on sets of numbers. Intervals are computed in exact integers and
// then wrapped into the type; bits are followed separately where an op moves them.

#include <algorithm>
#include <bit>

#include "ir/eval/eval.h"
#include "opt/analysis/range_rules.h"

namespace vyre::opt {
namespace {

using Result = RangeRules::Result;

struct Bits {
  uint64_t zeros = 0, ones = 0;
};

/// a + b + carry on known bits: bits of the sum are known where both operands' bits are and the
/// carry into them is the same in the smallest and in the largest sum.
Bits add_bits(Bits a, Bits b, uint64_t carry, uint64_t mask) {
  const uint64_t a_most = ~a.zeros & mask, b_most = ~b.zeros & mask;
  const uint64_t most = a_most + b_most + carry, fewest = a.ones + b.ones + carry;
  const uint64_t never_carried = ~(most ^ a_most ^ b_most),
                 always_carried = fewest ^ a.ones ^ b.ones;
  const uint64_t known =
      (a.zeros | a.ones) & (b.zeros | b.ones) & (never_carried | always_carried) & mask;
  return {~fewest & known, fewest & known};
}

Bits bits_of(const ValueRange& r) { return {r.zeros, r.ones}; }

/// Low bits of a product: known as far as both operands' are, and both operands' zeros add up.
Bits multiply_bits(const ValueRange& a, const ValueRange& b, uint32_t width) {
  const uint32_t zeros_a = uint32_t(std::countr_one(a.zeros)),
                 zeros_b = uint32_t(std::countr_one(b.zeros));
  const uint32_t known =
      uint32_t(std::min(std::countr_one(a.zeros | a.ones), std::countr_one(b.zeros | b.ones)));
  const uint64_t low = low_mask(std::min(known, width));
  const uint64_t product = a.ones * b.ones;
  const uint64_t shifted = low_mask(std::min(zeros_a + zeros_b, width));
  return {(~product & low) | shifted, product & low & ~shifted};
}

struct Interval {
  Wide lo, hi;
  bool exact = true;  // false: it did not fit into Wide
};

template <class F>
Interval corners(const ValueRange& a, const ValueRange& b, F&& f) {
  Interval r{0, 0};
  bool first = true;
  for (const Wide x : {a.low(), a.high()})
    for (const Wide y : {b.low(), b.high()}) {
      Wide v = 0;
      if (!f(x, y, &v)) return {0, 0, false};
      r.lo = first ? v : std::min(r.lo, v);
      r.hi = first ? v : std::max(r.hi, v);
      first = false;
    }
  return r;
}

Result exact_or_wrapped(Type t, const Interval& i, Bits bits) {
  if (!i.exact) return {make_range(t, least(t), greatest(t), bits.zeros, bits.ones)};
  return {wrapped_range(t, i.lo, i.hi, bits.zeros, bits.ones),
          i.lo >= least(t) && i.hi <= greatest(t)};
}

ValueRange by_bits(Type t, uint64_t zeros, uint64_t ones) {
  return make_range(t, least(t), greatest(t), zeros, ones);
}

Wide round_up(Wide a, Wide b) {  // the mathematical ceiling
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// div and ceil_div. For a fixed divisor the quotient is monotone in the dividend, for a fixed
/// dividend in the divisor on either side of zero: so the ends of both sides are enough.
ValueRange divide(Type t, const ValueRange& a, const ValueRange& b, bool ceil) {
  const Wide least_b = b.low(), most_b = b.high();
  if (is_signed(t) && a.low() == least(t) && least_b <= -1 && most_b >= -1)
    return full_range(t);  // MIN / -1
  Wide lo = 0, hi = 0;
  bool first = true;
  const auto take = [&](Wide v) {
    lo = first ? v : std::min(lo, v);
    hi = first ? v : std::max(hi, v);
    first = false;
  };
  const auto side = [&](Wide from, Wide to) {
    if (from > to) return;
    for (const Wide y : {from, to})
      for (const Wide x : {a.low(), a.high()}) take(ceil ? round_up(x, y) : x / y);
  };
  side(least_b, std::min<Wide>(most_b, -1));
  side(std::max<Wide>(least_b, 1), most_b);
  if (least_b <= 0 && most_b >= 0) take(is_signed(t) ? Wide{0} : greatest(t));  // by zero
  return make_range(t, lo, hi);
}

ValueRange remainder(Type t, const ValueRange& a, const ValueRange& b) {
  const Wide most = std::max(b.high(), -b.low());  // |divisor|
  if (most == 0) return constant_range(t, 0);
  if (a.low() >= 0 && b.low() > a.high()) return a;
  const Wide limit = most - 1;
  const Wide lo = a.low() < 0 ? std::max(a.low(), -limit) : Wide{0};
  const Wide hi = a.high() > 0 ? std::min(a.high(), limit) : Wide{0};
  uint64_t zeros = 0, ones = 0;
  // A divisor that is a multiple of 2^k (0 gives 0) keeps the low k bits of a dividend that is not
  // negative; zeros stay zeros even then.
  const uint64_t low = low_mask(uint32_t(std::countr_one(b.zeros)));
  zeros = a.zeros & low;
  if (a.low() >= 0 && b.low() > 0) ones = a.ones & low;
  return make_range(t, lo, hi, zeros, ones);
}

struct Amount {
  uint32_t lo, hi;
};

/// Shift amounts are taken modulo the width.
Amount amount(Type t, const ValueRange& b) {
  const uint32_t w = width_of(t);
  if (b.is_constant()) {
    const uint32_t s = uint32_t(uint64_t(b.lo)) & (w - 1);
    return {s, s};
  }
  if (b.low() >= 0 && b.high() < Wide(w)) return {uint32_t(b.lo), uint32_t(b.hi)};
  // The known low bits of the amount still count.
  return {uint32_t(b.ones & (w - 1)), uint32_t(~b.zeros & (w - 1))};
}

Result shift_left(Type t, const ValueRange& a, Amount s) {
  const uint32_t w = width_of(t);
  Bits bits{low_mask(std::min(w, uint32_t(std::countr_one(a.zeros)) + s.lo)), 0};
  if (s.lo == s.hi) bits = {(a.zeros << s.lo) | low_mask(s.lo), a.ones << s.lo};
  Interval r{0, 0};
  bool first = true;
  for (const Wide x : {a.low(), a.high()})
    for (const uint32_t n : {s.lo, s.hi}) {
      Wide v = 0;
      if (__builtin_mul_overflow(x, Wide{1} << n, &v))
        return exact_or_wrapped(t, {0, 0, false}, bits);
      r.lo = first ? v : std::min(r.lo, v);
      r.hi = first ? v : std::max(r.hi, v);
      first = false;
    }
  // Between the ends of a range of amounts exact results lie between those of the ends; wrapped
  // ones only if none wraps.
  if (s.lo != s.hi && (r.lo < least(t) || r.hi > greatest(t))) r.exact = false;
  return exact_or_wrapped(t, r, bits);
}

ValueRange shift_right(Type t, const ValueRange& a, Amount s) {
  const uint64_t mask = low_mask(width_of(t));
  Wide lo = std::min(a.low() >> s.lo, a.low() >> s.hi),
       hi = std::max(a.high() >> s.lo, a.high() >> s.hi);
  uint64_t zeros = 0, ones = 0;
  if (s.lo == s.hi) {
    const uint64_t filled = mask & ~(mask >> s.lo);
    const uint64_t sign = is_signed(t) ? (mask >> 1) + 1 : 0;
    zeros = a.zeros >> s.lo;
    ones = a.ones >> s.lo;
    if (!is_signed(t) || (a.zeros & sign)) zeros |= filled;
    if (a.ones & sign) ones |= filled;
  }
  return make_range(t, lo, hi, zeros, ones);
}

ValueRange rotate(Type t, const ValueRange& a, uint32_t left) {
  const uint32_t w = width_of(t);
  const uint64_t mask = low_mask(w);
  const auto turn = [&](uint64_t x) {
    return left == 0 ? x : ((x << left) | (x >> (w - left))) & mask;
  };
  return by_bits(t, turn(a.zeros), turn(a.ones));
}

uint64_t reverse(uint64_t x, uint32_t width) {
  uint64_t r = 0;
  for (uint32_t i = 0; i < width; ++i) r |= (x >> i & 1) << (width - 1 - i);
  return r;
}

ValueRange leading_zeros(Type t, const ValueRange& a) {
  const uint32_t w = width_of(t);
  const uint64_t mask = low_mask(w);
  uint64_t least_bits = a.ones, most_bits = ~a.zeros & mask;
  if (a.low() >= 0) {
    least_bits = std::max<uint64_t>(least_bits, uint64_t(a.low()));
    most_bits = std::min<uint64_t>(most_bits, uint64_t(a.high()));
  }
  const auto clz = [&](uint64_t x) { return Wide(w) - std::bit_width(x); };
  return make_range(t, clz(most_bits), clz(least_bits));
}

ValueRange extract(Type t, const ValueRange& v, const ValueRange& offset, const ValueRange& n) {
  const uint32_t w = width_of(t);
  if (offset.is_constant() && n.is_constant()) {
    const uint32_t off = uint32_t(std::min<uint64_t>(offset.ulo(), w));
    const uint32_t count = uint32_t(std::min<uint64_t>(n.ulo(), w - off));
    if (count == 0) return constant_range(t, 0);
    const uint64_t field = low_mask(count), rest = low_mask(w) & ~field;
    uint64_t zeros = v.zeros >> off & field, ones = v.ones >> off & field;
    const uint64_t top = 1ull << (count - 1);
    if (!is_signed(t) || (zeros & top)) zeros |= rest;
    if (is_signed(t) && (ones & top)) ones |= rest;
    const Wide most = is_signed(t) ? Wide(top) - 1 : Wide(field);
    return make_range(t, is_signed(t) ? -Wide(top) : Wide{0}, most, zeros, ones);
  }
  const uint32_t count = uint32_t(std::min<uint64_t>(n.uhi(), w));
  if (count == 0) return constant_range(t, 0);
  if (is_signed(t)) return make_range(t, -(Wide{1} << (count - 1)), (Wide{1} << (count - 1)) - 1);
  return make_range(t, 0, std::min((Wide{1} << count) - 1, v.high()));
}

ValueRange insert(Type t, const ValueRange& v, const ValueRange& x, const ValueRange& offset,
                  const ValueRange& n) {
  if (!offset.is_constant() || !n.is_constant()) return full_range(t);
  const uint32_t w = width_of(t);
  const uint32_t off = uint32_t(std::min<uint64_t>(offset.ulo(), w));
  const uint32_t count = uint32_t(std::min<uint64_t>(n.ulo(), w - off));
  if (count == 0) return v;
  const uint64_t field = low_mask(count) << off;
  return by_bits(t, (v.zeros & ~field) | (x.zeros << off & field),
                 (v.ones & ~field) | (x.ones << off & field));
}

ValueRange compare(Opcode code, const ValueRange& a, const ValueRange& b) {
  const auto known = [](bool v) { return constant_range(Type::Bool, v); };
  const ValueRange open = full_range(Type::Bool);
  const bool apart =
      a.high() < b.low() || b.high() < a.low() || (a.zeros & b.ones) || (a.ones & b.zeros);
  const bool same = a.is_constant() && b.is_constant() && a.low() == b.low();
  switch (code) {
    case Opcode::Eq: return apart ? known(false) : same ? known(true) : open;
    case Opcode::Ne: return apart ? known(true) : same ? known(false) : open;
    case Opcode::Lt:
      return a.high() < b.low() ? known(true) : a.low() >= b.high() ? known(false) : open;
    case Opcode::Le:
      return a.high() <= b.low() ? known(true) : a.low() > b.high() ? known(false) : open;
    case Opcode::Gt: return compare(Opcode::Lt, b, a);
    default: return compare(Opcode::Le, b, a);
  }
}

/// Conversions between integers and bool. A number that fits keeps its value.
ValueRange cast(Type to, Type from, const ValueRange& a) {
  if (to == Type::Bool) {
    if (a.is_constant()) return constant_range(to, a.lo != 0);
    return a.low() > 0 || a.high() < 0 || a.ones ? constant_range(to, 1) : full_range(to);
  }
  uint64_t zeros = a.zeros, ones = a.ones;
  const uint64_t mask = low_mask(width_of(from)), above = low_mask(width_of(to)) & ~mask;
  const uint64_t sign = is_signed(from) ? (mask >> 1) + 1 : 0;
  if (!is_signed(from) || (zeros & sign)) zeros |= above;
  if (ones & sign) ones |= above;
  const uint64_t kept = low_mask(width_of(to));
  return wrapped_range(to, a.low(), a.high(), zeros & kept, ones & kept);
}

/// Evaluates the op by its shared definition, if all operands are constants.
std::optional<uint64_t> fold(Opcode code, Type t, Type source, std::span<const ValueRange> in) {
  uint64_t bits[4] = {};
  if (in.size() > 4) return std::nullopt;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].is_constant()) return std::nullopt;
    bits[i] = in[i].ones;
  }
  return eval_bits(code, t, source, bits, in.size());
}

ValueRange smaller(Type t, const ValueRange& a, const ValueRange& b) {
  return make_range(t, std::min(a.low(), b.low()), std::min(a.high(), b.high()), a.zeros & b.zeros,
                    a.ones & b.ones);
}
ValueRange larger(Type t, const ValueRange& a, const ValueRange& b) {
  return make_range(t, std::max(a.low(), b.low()), std::max(a.high(), b.high()), a.zeros & b.zeros,
                    a.ones & b.ones);
}

ValueRange absolute(Type t, const ValueRange& a) {
  if (a.low() >= 0) return a;
  if (a.low() == least(t)) return full_range(t);  // abs(MIN) is MIN
  const Wide far = std::max(-a.low(), a.high());
  return make_range(t, a.high() < 0 ? -a.high() : Wide{0}, far,
                    low_mask(uint32_t(std::countr_one(a.zeros))));
}

ValueRange high_half(Type t, const ValueRange& a, const ValueRange& b) {
  const uint32_t w = width_of(t);
  if (!is_signed(t)) {
    using Unsigned = unsigned __int128;
    const auto half = [&](uint64_t x, uint64_t y) { return Wide((Unsigned(x) * y) >> w); };
    return make_range(t, half(a.ulo(), b.ulo()), half(a.uhi(), b.uhi()));
  }
  const Interval r = corners(a, b, [](Wide x, Wide y, Wide* v) { return *v = x * y, true; });
  return make_range(t, r.lo >> w, r.hi >> w);
}

ValueRange saturated(Type t, Wide lo, Wide hi) {
  const auto fit = [&](Wide v) { return std::clamp(v, least(t), greatest(t)); };
  return make_range(t, fit(lo), fit(hi));
}

ValueRange bitwise(Opcode code, Type t, const ValueRange& a, const ValueRange& b) {
  Wide lo = least(t), hi = greatest(t);
  switch (code) {
    case Opcode::And:  // no larger than an operand that is not negative
      if (a.low() >= 0) lo = 0, hi = std::min(hi, a.high());
      if (b.low() >= 0) lo = 0, hi = std::min(hi, b.high());
      return make_range(t, lo, hi, a.zeros | b.zeros, a.ones & b.ones);
    case Opcode::Or:
      if (a.low() >= 0 && b.low() >= 0) lo = std::max(a.low(), b.low());
      return make_range(t, lo, hi, a.zeros & b.zeros, a.ones | b.ones);
    default:
      return make_range(t, lo, hi, (a.zeros & b.zeros) | (a.ones & b.ones),
                        (a.zeros & b.ones) | (a.ones & b.zeros));
  }
}

}  // namespace

RangeRules::Result apply_pure(Opcode code, Type t, Type source, std::span<const ValueRange> in) {
  const uint64_t mask = has_range(t) ? low_mask(width_of(t)) : 0;
  const uint32_t w = has_range(t) ? width_of(t) : 0;
  const ValueRange& a = in[0];
  switch (code) {  // those that may have floats
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::Gt:
    case Opcode::Ge: return {has_range(source) ? compare(code, a, in[1]) : full_range(Type::Bool)};
    case Opcode::IsNan:
    case Opcode::IsInf: return {full_range(Type::Bool)};
    case Opcode::Cast:
    case Opcode::Bitcast: return {has_range(source) ? cast(t, source, a) : full_range(t)};
    default: break;
  }
  if (!has_range(t)) return {full_range(t)};
  switch (code) {
    case Opcode::Add:
      return exact_or_wrapped(t, {a.low() + in[1].low(), a.high() + in[1].high()},
                              add_bits(bits_of(a), bits_of(in[1]), 0, mask));
    case Opcode::Sub:
      return exact_or_wrapped(t, {a.low() - in[1].high(), a.high() - in[1].low()},
                              add_bits(bits_of(a), {in[1].ones, in[1].zeros}, 1, mask));
    case Opcode::Neg:
      return exact_or_wrapped(t, {-a.high(), -a.low()},
                              add_bits({mask, 0}, {a.ones, a.zeros}, 1, mask));
    case Opcode::Mul:
      return exact_or_wrapped(
          t,
          corners(a, in[1],
                  [](Wide x, Wide y, Wide* v) { return !__builtin_mul_overflow(x, y, v); }),
          multiply_bits(a, in[1], w));
    case Opcode::Shl: return shift_left(t, a, amount(t, in[1]));
    default: break;
  }
  if (const auto bits = fold(code, t, source, in)) return {constant_range(t, *bits)};
  switch (code) {
    case Opcode::Shr: return {shift_right(t, a, amount(t, in[1]))};
    case Opcode::Div: return {divide(t, a, in[1], false)};
    case Opcode::CeilDiv: return {divide(t, a, in[1], true)};
    case Opcode::Rem: return {remainder(t, a, in[1])};
    case Opcode::Min: return {smaller(t, a, in[1])};
    case Opcode::Max: return {larger(t, a, in[1])};
    case Opcode::Clamp: return {smaller(t, larger(t, a, in[1]), in[2])};
    case Opcode::Abs: return {absolute(t, a)};
    case Opcode::MulHi: return {high_half(t, a, in[1])};
    case Opcode::SatAdd: return {saturated(t, a.low() + in[1].low(), a.high() + in[1].high())};
    case Opcode::SatSub: return {saturated(t, a.low() - in[1].high(), a.high() - in[1].low())};
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor: return {bitwise(code, t, a, in[1])};
    case Opcode::Not:
      return {is_signed(t)
                  ? make_range(t, -1 - a.high(), -1 - a.low(), a.ones, a.zeros)
                  : make_range(t, Wide(mask) - a.high(), Wide(mask) - a.low(), a.ones, a.zeros)};
    case Opcode::RotL:
    case Opcode::RotR: {
      const Amount s = amount(t, in[1]);
      if (s.lo != s.hi) return {full_range(t)};
      return {rotate(t, a, code == Opcode::RotL ? s.lo : (w - s.lo) & (w - 1))};
    }
    case Opcode::Clz: return {leading_zeros(t, a)};
    case Opcode::Ctz:
      return {make_range(t, std::min<int>(std::countr_one(a.zeros), int(w)),
                         a.ones ? std::countr_zero(a.ones) : int(w))};
    case Opcode::PopCount:
      return {make_range(t, std::popcount(a.ones), int(w) - std::popcount(a.zeros))};
    case Opcode::ReverseBits: return {by_bits(t, reverse(a.zeros, w), reverse(a.ones, w))};
    case Opcode::Extract: return {extract(t, a, in[1], in[2])};
    case Opcode::Insert: return {insert(t, a, in[1], in[2], in[3])};
    case Opcode::Select:
      if (a.is_constant()) return {a.lo ? in[1] : in[2]};
      return {join(t, in[1], in[2])};
    default: return {full_range(t)};
  }
}

}  // namespace vyre::opt
