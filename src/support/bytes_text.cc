#include "support/bytes_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace vyre {

std::string bytes_text(uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string exact_bytes(uint64_t bytes, bool noun) {
  const std::string_view word = !noun ? "" : bytes == 1 ? " byte" : " bytes";
  const bool large = bytes >= uint64_t{1} << 20;
  return fmt::format("{}{}{}", bytes, word, large ? fmt::format(" ({})", bytes_text(bytes)) : "");
}

}  // namespace vyre
