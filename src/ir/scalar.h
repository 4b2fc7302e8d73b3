#pragma once

// C++ numbers as values of the language: a type and bits, and conversions that keep the number.

#include <bit>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

#include "ir/types.h"

namespace vyre {

/// A C++ type that the language has too.
template <class T>
concept HostNumber = std::is_arithmetic_v<T> && !std::same_as<std::remove_cv_t<T>, long double>;

/// The language's type for T: `type_of<float>()` is Type::F32. Integers go by size and sign.
template <HostNumber T>
constexpr Type type_of() {
  using N = std::remove_cv_t<T>;
  if constexpr (std::same_as<N, bool>) return Type::Bool;
  if constexpr (std::same_as<N, float>) return Type::F32;
  if constexpr (std::same_as<N, double>) return Type::F64;
  constexpr Type by_size[] = {Type::U8, Type::U16, Type::U32, Type::U64};
  constexpr Type by_size_signed[] = {Type::I8, Type::I16, Type::I32, Type::I64};
  constexpr int index = std::countr_zero(sizeof(N));
  return std::is_signed_v<N> ? by_size_signed[index] : by_size[index];
}

/// A number with its type.
struct Scalar {
  Type type = Type::Void;
  uint64_t bits = 0;  // in the low width_of(type) bits; others are ignored
  bool operator==(const Scalar&) const = default;
};

template <HostNumber T>
constexpr Scalar scalar(T v) {
  if constexpr (std::same_as<T, float>) return {Type::F32, std::bit_cast<uint32_t>(v)};
  if constexpr (std::same_as<T, double>) return {Type::F64, std::bit_cast<uint64_t>(v)};
  return {type_of<T>(), uint64_t(v) & low_mask(width_of(type_of<T>()))};
}

/// The bits of the same number as a `to`; nothing if that type does not have it: 0.1 (f64) is not
/// an f32, -1 is not a u32, 1.5 is not an integer, and neither are -0.0 and NaN. A bool is 0 or 1.
std::optional<uint64_t> convert_exactly(Scalar from, Type to);

/// "2.5 (f64)", for messages.
std::string to_string(Scalar s);

}  // namespace vyre
