#pragma once

// Edge-case values: limits, powers of two and their neighbours, zeros, infinities, NaNs,
// subnormals; and buffers full of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "generate/random.h"
#include "ir/types.h"

namespace vyre::lab {

/// Bits of a value or element of any type. A bool is 0 or 1.
uint64_t interesting_bits(Random& random, Type type);

/// Elements of a buffer. Some buffers are all extreme values, some all small numbers, some noise;
/// bytes of a bool may be anything.
std::vector<std::byte> interesting_bytes(Random& random, Type element, uint64_t count);

}  // namespace vyre::lab
