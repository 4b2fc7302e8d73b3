#include "tools/vyre/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/lower/literal.h"

namespace vyre::cli {

std::optional<uint64_t> parse_count(std::string_view text) {
  uint64_t count = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;  // no sign
  return text::parse_value(text, Type::U64, &count) ? std::optional(count) : std::nullopt;
}

std::optional<uint64_t> parse_decimal_count(std::string_view text) {
  const size_t e = text.find_first_of("eE");
  if (e == text.npos || text.starts_with("0x")) return parse_count(text);
  auto count = parse_count(text.substr(0, e));
  const auto exponent = parse_count(text.substr(e + 1));
  if (!count || !exponent || *exponent > 19) return std::nullopt;
  for (uint64_t i = 0; i < *exponent; ++i)
    if (__builtin_mul_overflow(*count, uint64_t{10}, &*count)) return std::nullopt;
  return count;
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view suffixes = "KMGT";
  uint64_t unit = 1;
  const auto power_at = [&](size_t from_end) {  // of the letter at that place, or npos
    if (text.size() < from_end) return suffixes.npos;
    const char c = text[text.size() - from_end];
    return suffixes.find(c >= 'a' && c <= 'z' ? char(c - 32) : c);
  };
  const auto ends_with = [&](std::string_view tail) {
    return text.size() >= tail.size() &&
           std::equal(tail.begin(), tail.end(), text.end() - long(tail.size()),
                      [](char a, char b) { return a == b || a == b + 32; });
  };
  const size_t tail = ends_with("ib") ? 2 : ends_with("b") ? 1 : 0;  // of GiB, GB, G
  if (const size_t power = power_at(tail + 1); power != suffixes.npos) {
    unit = uint64_t{1} << (10 * (power + 1));
    text.remove_suffix(tail + 1);
  }
  const auto count = parse_count(text);
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, unit, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<double> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(seconds) || seconds <= 0) return std::nullopt;
  return seconds;
}

std::optional<std::array<uint64_t, 3>> parse_grid(std::string_view text) {
  std::array<uint64_t, 3> grid = {1, 1, 1};
  for (uint64_t& n : grid) {
    const size_t comma = text.find(',');
    const auto count = parse_count(text.substr(0, comma));
    if (!count) return std::nullopt;
    n = *count;
    if (comma == text.npos) return grid;
    text.remove_prefix(comma + 1);
  }
  return std::nullopt;  // a fourth dimension
}

std::optional<ScheduleFlag> parse_schedule(std::string_view text) {
  if (text == "order") return ScheduleFlag{interp::Schedule::Order};
  if (text == "reverse") return ScheduleFlag{interp::Schedule::Reverse};
  constexpr std::string_view random = "random:";
  if (!text.starts_with(random)) return std::nullopt;
  const auto seed = parse_count(text.substr(random.size()));
  if (!seed) return std::nullopt;
  return ScheduleFlag{interp::Schedule::Random, *seed};
}

}  // namespace vyre::cli
