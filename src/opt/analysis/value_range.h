#pragma once

// A set of integers: an interval and known bits, each refining the other.
//
// `lo` and `hi` bound a value as the number that it is in its type, signed or unsigned (a bool is 0
// or 1); `zeros` and `ones` are its known bits. Every ValueRange is made by make_range(), so that
// equal sets mostly look equal. An empty set does not exist: code with contradictory conditions is
// never executed, and its ranges fall back to something that holds trivially.

#include <cstdint>
#include <optional>

#include "ir/types.h"

namespace vyre::opt {

/// Wide enough for every sum and difference of numbers of two types.
using Wide = __int128;

struct ValueRange {
  // As numbers of the value's type: of unsigned types, the bits of both are uint64_t.
  int64_t lo = 0, hi = 0;
  bool is_unsigned = false;
  uint64_t zeros = 0, ones = 0;  // bits within the type's width

  uint64_t ulo() const { return uint64_t(lo); }
  uint64_t uhi() const { return uint64_t(hi); }
  /// As exact numbers, whatever the type.
  Wide low() const { return is_unsigned ? Wide(uint64_t(lo)) : Wide(lo); }
  Wide high() const { return is_unsigned ? Wide(uint64_t(hi)) : Wide(hi); }
  bool is_constant() const { return lo == hi; }
  bool operator==(const ValueRange&) const = default;
};

/// True if the type has ranges: it is an integer or bool.
constexpr bool has_range(Type t) { return is_integer(t) || t == Type::Bool; }

Wide least(Type type);
Wide greatest(Type type);
/// The number that the bits stand for.
Wide number(Type type, uint64_t bits);
/// The bits of a number, modulo 2^width.
uint64_t bits_of(Type type, Wide number);

/// All values of the type. For floats: no known range, and never a constant.
ValueRange full_range(Type type);
ValueRange constant_range(Type type, uint64_t bits);

/// The numbers from lo to hi with these bits, none if there are none. An interval that leaves the
/// type counts as all of the type.
std::optional<ValueRange> find_range(Type type, Wide lo, Wide hi, uint64_t zeros = 0,
                                     uint64_t ones = 0);
/// As above, but all of the type if there are none.
ValueRange make_range(Type type, Wide lo, Wide hi, uint64_t zeros = 0, uint64_t ones = 0);
/// Numbers from lo to hi, wrapped into the type: exact if all of them wrap equally often.
ValueRange wrapped_range(Type type, Wide lo, Wide hi, uint64_t zeros = 0, uint64_t ones = 0);

ValueRange join(Type type, const ValueRange& a, const ValueRange& b);
/// None if they have nothing in common.
std::optional<ValueRange> meet(Type type, const ValueRange& a, const ValueRange& b);

}  // namespace vyre::opt
