#pragma once

// append(): formatted text at the end of a string. fmt::format_to() with a std::back_inserter would
// compile the formatter of fmt into each source that calls it, at more than a second per source.

#include <fmt/format.h>

#include <string>

namespace vyre {

void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args);

template <typename... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

}  // namespace vyre
