#pragma once

// A source line as a terminal can show it: tabs become spaces, bytes that are no UTF-8 and control
// characters become escapes, long lines are cut around the place that matters.

#include <cstdint>
#include <string>
#include <string_view>

namespace vyre {

/// Text of a diagnostic, safe to print: control characters (an escape sequence in a name, a
/// right-to-left override) and invalid bytes are escaped. Newlines stay.
std::string printable(std::string_view text);

/// A piece of a line and where its marks go, in terminal columns from the start of `text`.
struct Excerpt {
  std::string text;
  uint32_t mark_at = 0;
  uint32_t mark_length = 0;  // 0: no mark
};

/// Shows `line` (without its newline). `column` is 1-based in bytes, 0 for none; both are clamped
/// to the line. At most about `window` columns; costs O(window), however long the line is.
Excerpt excerpt(std::string_view line, uint32_t column, uint32_t length, uint32_t window = 120);

}  // namespace vyre
