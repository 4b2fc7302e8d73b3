// Every code is raised by a test: its number ("V0140") or its name stands in a .vyre file or a unit
// test.

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "diagnostics/code_table.h"
#include "diagnostics/diagnostic.h"
#include "support/file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

bool is_test(const fs::path& path) {
  return path.extension() == ".vyre" || path.filename().string().ends_with("_test.cc");
}

/// All words of all tests.
std::set<std::string, std::less<>> words_of_tests() {
  std::set<std::string, std::less<>> words;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(VYRE_SOURCE_DIR) / "tests")) {
    if (!entry.is_regular_file() || !is_test(entry.path())) continue;
    const FileContents file = read_file(entry.path().string());
    EXPECT_TRUE(file) << entry.path();
    std::string word;
    for (const char c : file.bytes + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
      } else if (!word.empty()) {
        words.insert(std::move(word));
        word.clear();
      }
    }
  }
  return words;
}

TEST(Codes, every_code_is_mentioned_by_a_test) {
  const auto words = words_of_tests();
  for (const CodeInfo& row : all_codes()) {
    if (row.code == Code::InternalError)
      continue;  // a bug of vyre by definition: no input is known that raises it
    EXPECT_TRUE(words.contains(to_string(row.code)) || words.contains(row.name))
        << to_string(row.code) << " (" << row.name << ") is in no test: write one that raises it";
  }
}

}  // namespace
}  // namespace vyre
