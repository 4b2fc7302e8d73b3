#include "generate/interesting.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace vyre::lab {
namespace {

uint64_t integer_bits(Random& random, Type type) {
  const uint32_t width = width_of(type);
  const uint64_t top = 1ull << (width - 1);
  switch (random.below(9)) {
    case 0: return random.below(3);
    case 1: return ~random.below(3);           // -1, -2, -3; the unsigned maxima
    case 2: return top - 1 + random.below(3);  // around the signed limits
    case 3: return (1ull << random.below(width)) - 1;
    case 4: {
      // Named in order: the evaluation order of operands is unspecified.
      const uint64_t power = 1ull << random.below(width);
      return power + random.below(2);
    }
    case 5: {
      const uint64_t more = random.below(3);
      return ~(1ull << random.below(width)) + more;
    }
    case 6: return random.next();
    default: return random.below(20);
  }
}

/// A float of any format: `mantissa` and `exponent` are their widths.
uint64_t float_bits(Random& random, uint32_t mantissa, uint32_t exponent) {
  const uint64_t sign = random.below(2) << (mantissa + exponent);
  const uint64_t inf = low_mask(exponent) << mantissa;
  const uint64_t one = low_mask(exponent - 1) << mantissa;
  switch (random.below(12)) {
    case 0: return sign;  // zeros
    case 1: return sign | inf;
    case 2: return inf | 1ull << (mantissa - 1);                       // the canonical NaN
    case 3: return sign | (inf - 1 - random.below(2));                 // the largest
    case 4: return sign | (1 + random.below(2));                       // the smallest subnormals
    case 5: return sign | ((1ull << mantissa) - 1 + random.below(3));  // around the smallest normal
    case 6: return sign | (one - 1 + random.below(3));                 // around 1
    case 7:                                                            // a power of two
      return sign | random.between(1, low_mask(exponent) - 1) << mantissa;
    case 8: {  // around the limits of the integers, where conversions saturate
      const uint64_t limit =
          one +
          (uint64_t{random.pick({7u, 8u, 15u, 16u, 24u, 31u, 32u, 53u, 63u, 64u})} << mantissa);
      return sign | (limit - 1 + random.below(3));
    }
    case 9: {  // any bits that are not a NaN
      const uint64_t bits = random.next() & low_mask(mantissa + exponent);
      return bits > inf ? one : sign | bits;
    }
    default: {  // between 1/16 and 16, with few bits
      const uint64_t power = one + ((random.below(8) - 4) << mantissa);
      return sign | power | (random.below(16) << (mantissa < 4 ? 0 : mantissa - 4));
    }
  }
}

}  // namespace

uint64_t interesting_bits(Random& random, Type type) {
  switch (type) {
    case Type::Void: return 0;
    case Type::Bool: return random.below(2);
    case Type::F32: return float_bits(random, 23, 8);
    case Type::F64: return float_bits(random, 52, 11);
    // The exponent of f16 is too narrow for some of the powers: the truncated bits are used.
    case Type::F16: return float_bits(random, 10, 5) & 0xffff;
    case Type::BF16: return float_bits(random, 7, 8);
    default: return integer_bits(random, type) & low_mask(width_of(type));
  }
}

std::vector<std::byte> interesting_bytes(Random& random, Type element, uint64_t count) {
  const uint32_t size = size_of(element);
  const uint64_t kind = random.below(4);
  std::vector<std::byte> bytes(count * size);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = kind == 0 || (kind == 1 && is_integer(element))
                        ? random.next()
                        : interesting_bits(random, element);
    if (kind == 2 && is_integer(element)) bits = random.below(64);
    if (element == Type::Bool && random.chance(20)) bits = random.below(256);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

}  // namespace vyre::lab
