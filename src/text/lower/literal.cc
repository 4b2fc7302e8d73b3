#include "text/lower/literal.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "ir/eval/eval.h"

namespace vyre::text {
namespace {

std::string without_underscores(std::string_view s) {
  std::string r;
  for (char c : s)
    if (c != '_') r += c;
  return r;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// True if each underscore stands between two digits. Literals of the language also allow them
/// elsewhere (`7_u64`).
bool underscores_separate_digits(std::string_view s) {
  int base = 10;
  if (s.starts_with("0x") || s.starts_with("0X")) base = 16;
  if (s.starts_with("0b") || s.starts_with("0B")) base = 2;
  if (base != 10) s.remove_prefix(2);
  const auto is_digit = [&](size_t i) { return i < s.size() && digit_value(s[i]) < base; };
  for (size_t i = 0; i < s.size(); ++i)
    if (s[i] == '_' && (i == 0 || !is_digit(i - 1) || !is_digit(i + 1))) return false;
  return true;
}

/// Bits of a float of any float type as a double (exact).
double to_double(Type t, uint64_t bits) {
  switch (t) {
    case Type::F64: return std::bit_cast<double>(bits);
    case Type::F16: return from_f16(uint16_t(bits));
    case Type::BF16: return from_bf16(uint16_t(bits));
    default: return std::bit_cast<float>(uint32_t(bits));
  }
}

/// Shortest digits for a 16-bit float: the fewest that parse to the same bits.
std::string print_half(Type t, uint64_t bits) {
  const double d = to_double(t, bits);
  for (int digits = 1; digits < 9; ++digits) {
    std::string s = fmt::format("{:.{}e}", d, digits - 1);
    uint64_t back = 0;
    if (parse_float(s, t, &back) && back == bits) {
      double value = 0;
      std::from_chars(s.data(), s.data() + s.size(), value);
      return fmt::format("{}", value);
    }
  }
  return fmt::format("{}", d);
}

}  // namespace

std::optional<uint64_t> parse_integer(std::string_view digits) {
  uint64_t base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) base = 16;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) base = 2;
  if (base != 10) digits.remove_prefix(2);
  uint64_t value = 0;
  bool any = false;
  for (char c : digits) {
    if (c == '_') continue;
    const uint64_t d = uint64_t(digit_value(c));
    if (d >= base || __builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, d, &value))
      return std::nullopt;
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

std::optional<NumberToken> split_number(std::string_view token, bool is_float) {
  const bool hex = token.size() > 1 && token[0] == '0' && (token[1] == 'x' || token[1] == 'X');
  const bool binary = token.size() > 1 && token[0] == '0' && (token[1] == 'b' || token[1] == 'B');
  // A suffix starts with a letter that cannot continue the number: b, f are hex digits, so in hex
  // only i and u begin one.
  for (size_t i = hex || binary ? 2 : 0; i < token.size(); ++i) {
    const char c = token[i];
    if ((c >= '0' && c <= '9') || c == '_' || c == '.') continue;
    if (hex && digit_value(c) < 16) continue;
    if (is_float && (c == 'e' || c == 'E') && i + 1 < token.size() &&
        !std::isalpha(static_cast<unsigned char>(token[i + 1]))) {
      ++i;  // the exponent's sign or first digit
      continue;
    }
    const auto t = find_type(token.substr(i));
    if (!t) return std::nullopt;
    return NumberToken{token.substr(0, i), *t};
  }
  return NumberToken{token, Type::Void};
}

bool parse_float(std::string_view digits, Type type, uint64_t* bits) {
  const std::string s = without_underscores(digits);
  const char* end = s.data() + s.size();
  if (type == Type::F64 || is_storage_only(type)) {
    double d = 0;
    const auto r = std::from_chars(s.data(), end, d);
    if (r.ptr != end || (r.ec != std::errc{} && r.ec != std::errc::result_out_of_range))
      return false;
    if (r.ec == std::errc::result_out_of_range) {  // too small is zero, too large an error
      d = std::strtod(s.c_str(), nullptr);
      if (std::isinf(d)) return false;
    }
    if (type == Type::F64) {
      *bits = std::bit_cast<uint64_t>(d);
      return true;
    }
    // Through f32 is exact enough: 16-bit floats have at most 11 bits, and the decimal has few
    // digits.
    *bits = type == Type::F16 ? to_f16(float(d)) : to_bf16(float(d));
    return std::isinf(to_double(type, *bits)) ? false : true;
  }
  float f = 0;
  const auto r = std::from_chars(s.data(), end, f);
  if (r.ptr != end || (r.ec != std::errc{} && r.ec != std::errc::result_out_of_range)) return false;
  if (r.ec == std::errc::result_out_of_range) {
    f = std::strtof(s.c_str(), nullptr);
    if (std::isinf(f)) return false;
  }
  *bits = std::bit_cast<uint32_t>(f);
  return true;
}

bool fit_integer(uint64_t magnitude, bool negative, Type type, uint64_t* bits) {
  const uint32_t w = width_of(type);
  const uint64_t most = is_signed(type) ? low_mask(w - 1) : low_mask(w);
  if (negative && magnitude != 0) {
    if (!is_signed(type) || magnitude > most + 1) return false;
    *bits = (~magnitude + 1) & low_mask(w);
    return true;
  }
  if (magnitude > most) return false;
  *bits = magnitude;
  return true;
}

std::string print_value(Type t, uint64_t bits) {
  switch (t) {
    case Type::Bool: return bits ? "1" : "0";
    case Type::I8: return fmt::format("{}", int(int8_t(bits)));
    case Type::I16: return fmt::format("{}", int16_t(bits));
    case Type::I32: return fmt::format("{}", int32_t(bits));
    case Type::I64: return fmt::format("{}", int64_t(bits));
    case Type::F32:
      if (std::isnan(to_double(t, bits))) return "nan";
      return fmt::format("{}", std::bit_cast<float>(uint32_t(bits)));
    case Type::F64:
      if (std::isnan(to_double(t, bits))) return "nan";
      return fmt::format("{}", std::bit_cast<double>(bits));
    case Type::F16:
    case Type::BF16: {
      const double d = to_double(t, bits);
      if (std::isnan(d)) return "nan";
      if (std::isinf(d) || d == 0) return fmt::format("{}", d);
      return print_half(t, bits);
    }
    default: return fmt::format("{}", bits);
  }
}

bool parse_value(std::string_view text, Type t, uint64_t* bits) {
  bool negative = false;
  std::string_view s = text;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (s.empty() || s[0] == '-' || s[0] == '+') return false;
  if (!underscores_separate_digits(s)) return false;
  if (t == Type::Bool) {
    if (text == "true" || text == "1")
      *bits = 1;
    else if (text == "false" || text == "0")
      *bits = 0;
    else
      return false;
    return true;
  }
  if (is_integer(t)) {
    const auto m = parse_integer(s);
    return m && fit_integer(*m, negative, t, bits);
  }
  const uint64_t sign = negative ? 1ull << (width_of(t) - 1) : 0;
  const auto special = [&](float f) {
    *bits = t == Type::F64    ? std::bit_cast<uint64_t>(double(f))
            : t == Type::F16  ? to_f16(f)
            : t == Type::BF16 ? to_bf16(f)
                              : std::bit_cast<uint32_t>(f);
    if (f == f) *bits |= sign;
    return true;
  };
  if (s == "inf") return special(HUGE_VALF);
  if (s == "nan") {
    special(0);
    *bits = t == Type::F64    ? canonical_nan_f64
            : t == Type::F16  ? 0x7e00
            : t == Type::BF16 ? 0x7fc0
                              : canonical_nan_f32;
    return true;
  }
  if (!(s[0] >= '0' && s[0] <= '9') && s[0] != '.') return false;
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) return false;
  if (!parse_float(s, t, bits)) return false;
  *bits |= sign;
  return true;
}

std::string print_literal(Type t, uint64_t bits) {
  if (t == Type::Bool) return bits ? "true" : "false";
  if (!is_float(t)) return print_value(t, bits);
  const double d = to_double(t, bits);
  if (std::isnan(d)) {
    const bool canonical = bits == (t == Type::F64 ? canonical_nan_f64 : canonical_nan_f32);
    return canonical ? "nan" : fmt::format("bits(0x{:x})", bits);
  }
  std::string s = print_value(t, bits);
  if (std::isinf(d)) return s;
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

}  // namespace vyre::text
