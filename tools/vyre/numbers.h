#pragma once

// Numbers as the command line writes them. Each function returns nothing for malformed text; the
// caller knows the option.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "interp/interp.h"

namespace vyre::cli {

/// "1000", "0x400", "1_000".
std::optional<uint64_t> parse_count(std::string_view text);

/// A count, also with a decimal exponent: "1e6".
std::optional<uint64_t> parse_decimal_count(std::string_view text);

/// Bytes: a count, optionally with a suffix K, M, G or T for powers of 1024: "4G", "4GB", "4GiB".
std::optional<uint64_t> parse_bytes(std::string_view text);

/// A positive finite number of seconds: "2", "0.5".
std::optional<double> parse_seconds(std::string_view text);

/// "N", "N,M" or "N,M,K"; omitted values are 1.
std::optional<std::array<uint64_t, 3>> parse_grid(std::string_view text);

/// "order", "reverse" or "random:SEED".
struct ScheduleFlag {
  interp::Schedule schedule = interp::Schedule::Order;
  uint64_t seed = 0;
};
std::optional<ScheduleFlag> parse_schedule(std::string_view text);

}  // namespace vyre::cli
