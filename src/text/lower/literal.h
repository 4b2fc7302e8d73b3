#pragma once

// Numbers as text, for the language, the printer and the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/types.h"

namespace vyre::text {

/// The digits of an integer token ("0x1f", "1_000") without suffix; nullopt: malformed or over
/// 2^64-1.
std::optional<uint64_t> parse_integer(std::string_view digits);

/// A number token taken apart: digits, and the type named by its suffix (Void if none). nullopt:
/// the suffix is not a type.
struct NumberToken {
  std::string_view digits;
  Type suffix = Type::Void;
};
std::optional<NumberToken> split_number(std::string_view token, bool is_float);

/// Decimal text to the nearest f32 or f64, as bits; false: malformed or beyond the largest.
bool parse_float(std::string_view digits, Type type, uint64_t* bits);

/// Returns whether a magnitude with a sign fits an integer type, and its bits.
bool fit_integer(uint64_t magnitude, bool negative, Type type, uint64_t* bits);

/// A value as text and back: decimal, floats in the shortest form that reads back to the same bits
/// (f16 and bf16 too), bool as 0 or 1.
std::string print_value(Type element, uint64_t bits);
/// Parses the output of print_value, and true, false, 0x…, inf, nan; false if malformed or out of
/// range.
bool parse_value(std::string_view text, Type element, uint64_t* bits);

/// A constant as the language writes it: "7", "1.0", "-inf", "bits(0x7f800001)", "true".
std::string print_literal(Type type, uint64_t bits);

}  // namespace vyre::text
