#include "ir/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace vyre {
namespace {

/// Every integer type and its sign fit.
using Wide = __int128;

Wide integer_of(Scalar s) {
  if (s.type == Type::Bool) return s.bits != 0;
  const uint32_t unused = 64 - width_of(s.type);
  if (is_signed(s.type)) return static_cast<int64_t>(s.bits << unused) >> unused;
  return s.bits & low_mask(width_of(s.type));
}

/// Every f32 is an f64.
double real_of(Scalar s) {
  if (s.type == Type::F32) return std::bit_cast<float>(uint32_t(s.bits));
  return std::bit_cast<double>(s.bits);
}

/// The integer equal to a float; nothing if it has a fraction or is outside the range of all
/// integer types.
std::optional<Wide> integer_of(double v) {
  constexpr double end = 18446744073709551616.0;  // 2^64
  if (!(v > -end && v < end) || std::trunc(v) != v || (v == 0 && std::signbit(v)))
    return std::nullopt;
  return Wide(v);
}

std::optional<uint64_t> as_integer(Wide v, Type to) {
  const uint32_t bits = width_of(to);  // 1 for a bool
  const Wide below = is_signed(to) ? -(Wide(1) << (bits - 1)) : 0;
  const Wide above = Wide(1) << (is_signed(to) ? bits - 1 : bits);
  if (v < below || v >= above) return std::nullopt;
  return uint64_t(v) & low_mask(bits);
}

std::optional<uint64_t> as_float(double v, Type to) {
  if (to == Type::F64) return std::bit_cast<uint64_t>(v);
  if (std::isfinite(v) && std::abs(v) > std::numeric_limits<float>::max()) return std::nullopt;
  const auto narrow = float(v);
  if (double(narrow) != v && !std::isnan(v)) return std::nullopt;
  return std::bit_cast<uint32_t>(narrow);
}

}  // namespace

std::optional<uint64_t> convert_exactly(Scalar from, Type to) {
  if (from.type == Type::Void || to == Type::Void) return std::nullopt;
  if (from.type == to) {
    if (to == Type::Bool) return from.bits != 0;
    return from.bits & low_mask(width_of(to));
  }
  if (is_storage_only(from.type) || is_storage_only(to)) return std::nullopt;
  if (is_float(from.type)) {
    if (is_float(to)) return as_float(real_of(from), to);
    const std::optional<Wide> v = integer_of(real_of(from));
    return v ? as_integer(*v, to) : std::nullopt;
  }
  const Wide v = integer_of(from);
  if (!is_float(to)) return as_integer(v, to);
  const auto rounded = double(v);
  if (Wide(rounded) != v) return std::nullopt;
  return as_float(rounded, to);
}

std::string to_string(Scalar s) {
  std::string number = fmt::format("{:#x}", s.bits);
  if (s.type == Type::Bool) number = s.bits != 0 ? "true" : "false";
  if (is_signed(s.type)) number = fmt::format("{}", int64_t(integer_of(s)));
  if (is_unsigned(s.type)) number = fmt::format("{}", uint64_t(integer_of(s)));
  if (s.type == Type::F32) number = fmt::format("{}", float(real_of(s)));
  if (s.type == Type::F64) number = fmt::format("{}", real_of(s));
  return fmt::format("{} ({})", number, name(s.type));
}

}  // namespace vyre
