#pragma once

// The parts of a float of 32 or 64 bits.

#include "legalize/term_builder.h"

namespace vyre::emit_exact {

struct Shape {
  Type word;          // unsigned, as wide as the float
  Type number;        // signed, for exponents
  uint32_t width;     // of a word
  uint32_t fraction;  // bits below the exponent
  uint32_t spare;     // bits of a word above a significand
  uint64_t bias;
  uint64_t sign, magnitude, leading;  // masks; leading: the bit that normal numbers don't store
  uint64_t infinity, nan;             // bits

  uint64_t top() const { return sign; }
};

constexpr Shape shape_of(Type t) {
  if (width_of(t) == 64)
    return {Type::U64,      Type::I64,      64, 52, 11, 1023, 1ull << 63, ~0ull >> 1, 1ull << 52,
            0x7ffull << 52, 0x7ff8ull << 48};
  return {Type::U32, Type::I32,  32,       23,          8,         127,
          1u << 31,  0x7fffffff, 1u << 23, 0xffu << 23, 0x7fc00000};
}

/// A constant float that is neither zero nor subnormal (but may be infinite or NaN).
inline bool is_large_constant(const Term& t) {
  const Shape s = shape_of(t.type);
  return t.is_constant() && (t.bits & s.magnitude) >= s.leading;
}

}  // namespace vyre::emit_exact
