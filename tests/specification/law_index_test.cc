// Every paragraph of the law (semantics.md) has a test that names it, and
// tests/text/semantics/INDEX.md says which.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace vyre {
namespace {

namespace fs = std::filesystem;

const fs::path folder = VYRE_SOURCE_DIR "/tests/text/semantics";

// The paragraphs in the order of the law. Not here, because what they speak of is not built yet:
// cached code and the sanitizer.
constexpr std::string_view paragraphs[] = {"Values / Types",
                                           "Values / Ids and lengths",
                                           "Values / Indices",
                                           "Values / Literals",
                                           "Operators / Integers",
                                           "Operators / ceil_div clamp extract insert",
                                           "Operators / Floats",
                                           "Operators / Functions",
                                           "Operators / Casts",
                                           "Operators / Logic and precedence",
                                           "Operators / NaN",
                                           "Memory / Out of bounds",
                                           "Memory / Zeros and bytes",
                                           "Memory / Races",
                                           "Memory / Atomics",
                                           "Memory / Order-dependent",
                                           "Memory / Aliasing",
                                           "Memory / Progress",
                                           "Control / For",
                                           "Control / Barriers",
                                           "Control / Uniformity",
                                           "Control / Placement",
                                           "Control / uniform_load",
                                           "Control / Subgroups",
                                           "Control / Traps",
                                           "Launch / Grid",
                                           "Launch / Sizes",
                                           "Launch / Limits",
                                           "Launch / Time memory output",
                                           "Programs / Functions",
                                           "Programs / Arrays and tables",
                                           "Programs / Scopes and newlines",
                                           "Programs / Graphs",
                                           "Programs / Facts"};

using Index = std::map<std::string, std::set<std::string>>;  // paragraph to names of tests

/// From the `// law:` lines of the tests. A test without one, or with a name that is no paragraph,
/// fails.
Index read_tests() {
  Index index;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".vyre") continue;
    const std::string test = entry.path().stem().string();
    std::ifstream lines(entry.path());
    bool named = false;
    constexpr std::string_view key = "// law: ";
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(key)) continue;
      const std::string paragraph = line.substr(key.size());
      EXPECT_TRUE(std::count(std::begin(paragraphs), std::end(paragraphs), paragraph))
          << test << ": the law has no `" << paragraph << "`";
      index[paragraph].insert(test);
      named = true;
    }
    EXPECT_TRUE(named) << test << ": no `// law: …` says which paragraph it tests";
  }
  return index;
}

/// The rows `| paragraph | `test`, `test` |` of INDEX.md.
Index read_table() {
  Index index;
  std::ifstream lines(folder / "INDEX.md");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.find('/') == line.npos) continue;
    const std::string paragraph = line.substr(2, line.find(" |", 2) - 2);
    std::istringstream parts(line.substr(line.find(" |", 2) + 2));
    std::string text;
    for (bool inside = false; std::getline(parts, text, '`'); inside = !inside)
      if (inside) index[paragraph].insert(text);
  }
  return index;
}

TEST(LawIndex, every_paragraph_has_a_test_that_names_it) {
  const Index index = read_tests();
  for (const std::string_view paragraph : paragraphs)
    EXPECT_TRUE(index.contains(std::string(paragraph)))
        << "no test in tests/text/semantics names `" << paragraph << "`";
}

TEST(LawIndex, the_table_is_what_the_tests_say) {
  const Index tests = read_tests();
  const Index table = read_table();
  for (const std::string_view p : paragraphs) {
    const std::string paragraph(p);
    ASSERT_TRUE(table.contains(paragraph)) << "INDEX.md has no row for `" << paragraph << "`";
    EXPECT_EQ(table.at(paragraph),
              tests.contains(paragraph) ? tests.at(paragraph) : std::set<std::string>{})
        << "in the row of `" << paragraph << "`";
  }
  EXPECT_EQ(table.size(), std::size(paragraphs));
}

}  // namespace
}  // namespace vyre
