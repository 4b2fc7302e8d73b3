#pragma once

// A source line in a form that a terminal can show: tabs become spaces, invalid UTF-8 and control
// characters become escapes, long lines are cut around the reported column.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace vyre {

/// Text of a diagnostic, safe to print: control characters (an escape sequence in a name, a
/// right-to-left override) and invalid bytes are escaped. Newlines stay.
std::string printable(std::string_view text);

/// Lines of source texts by number. Searches each text for its lines once, so that many errors in a
/// long file take linear time.
class SourceLines {
 public:
  explicit SourceLines(const Sources& sources) : sources_(sources) {}
  /// The line without its newline; none if the text is unknown or has fewer lines.
  std::optional<std::string_view> find(const std::string& file, uint32_t number);

 private:
  const Sources& sources_;
  std::map<std::string, std::vector<size_t>, std::less<>> starts_;
};

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
