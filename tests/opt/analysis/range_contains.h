#pragma once

// Whether a range holds a value, for tests that compare ranges with what programs compute.

#include "ir/types.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {

/// Returns true if the range holds this value, given as bits.
inline bool contains(const ValueRange& range, Type type, uint64_t bits) {
  if (!has_range(type)) return true;
  const Wide n = number(type, bits);
  bits = bits_of(type, n);
  return n >= range.low() && n <= range.high() && (bits & range.zeros) == 0 &&
         (~bits & range.ones) == 0;
}

}  // namespace vyre::opt
