// The pages of the language's errors (src/diagnostics/codes/text.md) show programs: the first
// raises the page's code, the last does what the fix says.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnostics/code_table.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

constexpr int first_code = 101, last_code = 299;  // the range of text in codes.def

/// The blocks between lines of ```.
std::vector<std::string> examples(std::string_view page) {
  std::vector<std::string> blocks;
  bool inside = false;
  for (size_t at = 0; at < page.size();) {
    const size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    at = end + 1;
    if (line == "```") {
      inside = !inside;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += std::string(line) + "\n";
    }
  }
  return blocks;
}

Diagnostics errors_and_warnings(const std::string& program) {
  Diagnostics found = cli::load_module_bytes(program, "page").diagnostics;
  std::erase_if(found, [](const Diagnostic& d) { return d.severity == Severity::Note; });
  return found;
}

TEST(Pages, every_page_says_how_to_fix_it) {
  for (const CodeInfo& row : all_codes()) {
    if (int(row.code) > last_code) break;
    EXPECT_GT(row.page.size(), 40u) << row.name;
    EXPECT_NE(row.page.find("\nFix: "), row.page.npos) << row.name;
  }
}

TEST(Pages, first_example_raises_the_code_and_nothing_else) {
  int shown = 0;
  for (const CodeInfo& row : all_codes()) {
    const auto blocks = examples(row.page);
    if (int(row.code) < first_code || int(row.code) > last_code || blocks.empty()) continue;
    ++shown;
    const Diagnostics found = errors_and_warnings(blocks.front());
    EXPECT_FALSE(found.empty()) << row.name;
    for (const Diagnostic& d : found)
      EXPECT_EQ(to_string(d.code), to_string(row.code)) << row.name << ": " << d.message;
  }
  EXPECT_GT(shown, 60);
}

TEST(Pages, last_example_is_clean) {
  for (const CodeInfo& row : all_codes()) {
    const auto blocks = examples(row.page);
    if (int(row.code) < first_code || int(row.code) > last_code || blocks.size() < 2) continue;
    for (const Diagnostic& d : errors_and_warnings(blocks.back()))
      ADD_FAILURE() << row.name << ": " << to_string(d.code) << " at line " << d.place.line << ": "
                    << d.message;
  }
}

}  // namespace
}  // namespace vyre
