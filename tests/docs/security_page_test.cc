// SECURITY.md: every statement names tests, and these exist.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "support/file.h"
#include "tests/docs/test_names_util.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

/// The second cells of the rows of every table whose second column is "tests".
std::vector<std::string> cells_of_tests(const std::string& page) {
  std::vector<std::string> cells;
  bool inside = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| statement | tests |")) {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      cells.push_back(line.substr(line.find(" | ") + 3));
    }
  }
  return cells;
}

bool exists(const std::set<std::string>& cases, const std::string& name) {
  return name.starts_with("tests/") ? fs::is_regular_file(VYRE_SOURCE_DIR "/" + name)
                                    : cases.contains(name);
}

TEST(SecurityPage, every_statement_has_tests_that_exist) {
  static const std::regex quoted("`([^`]+)`");
  const std::set<std::string> cases = all_test_cases();
  ASSERT_GT(cases.size(), 1500u);
  const auto cells = cells_of_tests(read_file(VYRE_SOURCE_DIR "/SECURITY.md").bytes);
  EXPECT_GT(cells.size(), 25u);
  for (const std::string& cell : cells) {
    size_t named = 0;
    for (std::sregex_iterator it(cell.begin(), cell.end(), quoted), end; it != end; ++it, ++named)
      EXPECT_TRUE(exists(cases, (*it)[1])) << (*it)[1];
    EXPECT_GT(named, 0u) << cell;
  }
}

TEST(SecurityPage, links_lead_to_files) {
  static const std::regex link(R"(\]\(([^)#]+)[^)]*\))");
  const std::string page = read_file(VYRE_SOURCE_DIR "/SECURITY.md").bytes;
  for (std::sregex_iterator it(page.begin(), page.end(), link), end; it != end; ++it)
    EXPECT_TRUE(fs::exists(VYRE_SOURCE_DIR "/" + (*it)[1].str())) << (*it)[1];
}

}  // namespace
}  // namespace vyre
