#include "opt/analysis/value_range.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace vyre::opt {

Wide least(Type t) { return is_signed(t) ? -(Wide{1} << (width_of(t) - 1)) : Wide{0}; }
Wide greatest(Type t) { return (Wide{1} << (is_signed(t) ? width_of(t) - 1 : width_of(t))) - 1; }

Wide number(Type t, uint64_t bits) {
  if (!is_signed(t)) return Wide(bits & low_mask(width_of(t)));
  const uint32_t unused = 64 - width_of(t);
  return Wide(int64_t(bits << unused) >> unused);
}

uint64_t bits_of(Type t, Wide n) { return uint64_t(n) & low_mask(width_of(t)); }

namespace {

/// Intervals imply leading bits, bits imply intervals; two iterations settle all that matters.
bool refine(Type t, Wide& lo, Wide& hi, uint64_t& zeros, uint64_t& ones) {
  const uint64_t mask = low_mask(width_of(t)), sign = is_signed(t) ? (mask >> 1) + 1 : 0;
  zeros &= mask;
  ones &= mask;
  for (int round = 0; round < 2; ++round) {
    if (zeros & ones) return false;
    if (zeros | ones) {
      lo = std::max(lo, number(t, ones | (sign & ~zeros)));
      hi = std::min(hi, number(t, ~zeros & mask & ~(sign & ~ones)));
      // Known low bits: the first and last number that ends so.
      const int low = std::countr_one(zeros | ones);
      if (low > 0 && lo <= hi) {
        const Wide step = Wide{1} << std::min<int>(low, int(width_of(t)));
        const auto ahead = [&](Wide from, Wide to) { return (to - from) & (step - 1); };
        lo += ahead(lo, Wide(ones));
        hi -= ahead(Wide(ones), hi);
      }
    }
    if (lo > hi) return false;
    if ((lo < 0) == (hi < 0)) {
      const uint64_t a = bits_of(t, lo), b = bits_of(t, hi);
      const uint64_t common = mask & ~low_mask(uint32_t(std::bit_width(a ^ b)));
      ones |= a & common;
      zeros |= ~a & common;
    }
  }
  return !(zeros & ones);
}

}  // namespace

ValueRange full_range(Type t) {
  if (!has_range(t))
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), false, 0, 0};
  return {int64_t(least(t)), int64_t(uint64_t(greatest(t))), !is_signed(t), 0, 0};
}

ValueRange constant_range(Type t, uint64_t bits) {
  if (!has_range(t)) return full_range(t);
  const uint64_t mask = low_mask(width_of(t));
  const int64_t n = int64_t(number(t, bits));
  return {n, n, !is_signed(t), ~bits & mask, bits & mask};
}

std::optional<ValueRange> find_range(Type t, Wide lo, Wide hi, uint64_t zeros, uint64_t ones) {
  if (!has_range(t)) return full_range(t);
  if (lo < least(t) || hi > greatest(t)) {
    lo = least(t);
    hi = greatest(t);
  }
  if (!refine(t, lo, hi, zeros, ones)) return std::nullopt;
  return ValueRange{int64_t(lo), int64_t(uint64_t(hi)), !is_signed(t), zeros, ones};
}

ValueRange make_range(Type t, Wide lo, Wide hi, uint64_t zeros, uint64_t ones) {
  return find_range(t, lo, hi, zeros, ones).value_or(full_range(t));
}

ValueRange wrapped_range(Type t, Wide lo, Wide hi, uint64_t zeros, uint64_t ones) {
  if (lo < least(t) || hi > greatest(t)) {
    const uint32_t w = width_of(t);
    const Wide turns = (lo - least(t)) >> w;  // rounds down
    if (turns == (hi - least(t)) >> w) {
      lo -= turns << w;
      hi -= turns << w;
    }
  }
  return make_range(t, lo, hi, zeros, ones);
}

ValueRange join(Type t, const ValueRange& a, const ValueRange& b) {
  if (a == b) return a;
  return make_range(t, std::min(a.low(), b.low()), std::max(a.high(), b.high()), a.zeros & b.zeros,
                    a.ones & b.ones);
}

std::optional<ValueRange> meet(Type t, const ValueRange& a, const ValueRange& b) {
  if (a == b) return a;
  const Wide lo = std::max(a.low(), b.low()), hi = std::min(a.high(), b.high());
  if (lo > hi) return std::nullopt;
  return find_range(t, lo, hi, a.zeros | b.zeros, a.ones | b.ones);
}

}  // namespace vyre::opt
