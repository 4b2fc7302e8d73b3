#include "diagnostics/code_table.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <vector>

#include "support/embedded_files.h"

namespace vyre {
namespace {

/// Adds titles and pages to `table` from the text of one file of codes/.
void read_pages(std::string_view text, std::span<CodeInfo> table) {
  constexpr std::string_view heading = "# V";
  for (size_t at = text.starts_with(heading) ? 0 : text.npos; at != text.npos;) {
    const size_t line_end = text.find('\n', at);
    size_t next = text.find("\n# V", line_end);
    const std::string_view line = text.substr(at + heading.size(), line_end - at - heading.size());
    std::string_view page =
        text.substr(line_end + 1, next == text.npos ? next : next - line_end - 1);
    at = next == text.npos ? next : next + 1;

    uint32_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const CodeInfo& c) { return uint32_t(c.code) == number; });
    assert(row != table.end() && row->title.empty() &&
           "a heading of codes/*.md names no code, or one twice");
    if (row == table.end()) continue;
    const size_t title = static_cast<size_t>(parsed.ptr - line.data());
    row->title = line.substr(std::min(line.size(), title + 2));
    row->page = page.substr(0, page.find_last_not_of('\n') + 2);
  }
}

std::vector<CodeInfo> make_table() {
  std::vector<CodeInfo> table = {
#define VYRE_CODE(number, name, severity) {Code::name, #name, Severity::severity, {}, {}},
#include "diagnostics/codes.def"
#undef VYRE_CODE
  };
  for (const EmbeddedFile& file : embedded_code_pages()) read_pages(file.bytes, table);
  return table;
}

const CodeInfo* lookup(uint32_t number) {
  const auto table = all_codes();
  const auto row = std::lower_bound(
      table.begin(), table.end(), number,
      [](const CodeInfo& c, uint32_t n) { return static_cast<uint32_t>(c.code) < n; });
  return row != table.end() && static_cast<uint32_t>(row->code) == number ? &*row : nullptr;
}

}  // namespace

std::span<const CodeInfo> all_codes() {
  // Never destroyed: threads may report errors while the program exits.
  static const std::vector<CodeInfo>& table = *new std::vector<CodeInfo>(make_table());
  return table;
}

const CodeInfo& info(Code code) {
  const CodeInfo* row = lookup(static_cast<uint32_t>(code));
  assert(row && "a Code that is not a row of codes.def, or rows out of order");
  return *row;
}

const CodeInfo* find_code(std::string_view text) {
  if (!text.empty() && (text[0] == 'V' || text[0] == 'v')) text.remove_prefix(1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return nullptr;
  return lookup(number);
}

}  // namespace vyre
