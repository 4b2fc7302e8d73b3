// Every section of docs/specification.md names its tests in a comment below its heading, and these
// exist: `<!-- tests: operators_order, StoredBytes.half_elements_keep_subnormals_and_signs -->`.
// A name with a point is a GoogleTest case, one without is a file of tests/text or
// tests/conformance.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ir/ops_doc.h"
#include "support/file.h"
#include "tests/docs/test_names_util.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

const std::string& page() {
  static const std::string text = read_file(VYRE_SOURCE_DIR "/docs/specification.md").bytes;
  return text;
}

struct Section {
  std::string heading;  // "### 12.3 Accesses out of bounds"
  std::string comment;  // what the comment says, "" if there is none

  bool is_chapter() const { return heading.starts_with("## "); }
};

/// The sections of the page in order, chapters included.
const std::vector<Section>& sections() {
  static const std::vector<Section> list = [] {
    constexpr std::string_view opening = "<!-- ", closing = " -->";
    std::vector<Section> found;
    std::istringstream lines(page());
    bool fenced = false;
    for (std::string line; std::getline(lines, line);) {
      fenced ^= line.starts_with("```");
      if (fenced) continue;
      if (line.starts_with("## ") || line.starts_with("### ")) found.push_back({line, ""});
      if (line.starts_with(opening) && line.ends_with(closing) && !found.empty())
        found.back().comment =
            line.substr(opening.size(), line.size() - opening.size() - closing.size());
    }
    return found;
  }();
  return list;
}

std::vector<std::string> tests_of(const Section& section) {
  constexpr std::string_view key = "tests: ";
  std::vector<std::string> names;
  if (!section.comment.starts_with(key)) return names;
  std::istringstream parts(section.comment.substr(key.size()));
  for (std::string name; parts >> name;) {
    if (name.ends_with(',')) name.pop_back();
    names.push_back(name);
  }
  return names;
}

/// The names of the text tests of a folder, without `.vyre`.
std::set<std::string> text_tests(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(VYRE_SOURCE_DIR "/tests/" + folder))
    if (entry.path().extension() == ".vyre" && entry.path().parent_path().filename() != "data")
      names.insert(entry.path().stem().string());
  return names;
}

TEST(SpecificationIndex, every_section_names_tests_that_exist) {
  std::set<std::string> known = all_test_cases();
  for (const char* folder : {"text", "conformance"}) known.merge(text_tests(folder));
  ASSERT_GT(sections().size(), 80u);
  for (const Section& section : sections()) {
    if (section.is_chapter() || section.comment == "informative") continue;
    const std::vector<std::string> names = tests_of(section);
    EXPECT_FALSE(names.empty()) << "`" << section.heading << "` names no tests";
    for (const std::string& name : names)
      EXPECT_TRUE(known.contains(name)) << "`" << section.heading << "`: no test `" << name << "`";
  }
}

TEST(SpecificationIndex, chapters_have_sections_and_no_tests) {
  for (size_t i = 0; i < sections().size(); ++i) {
    if (!sections()[i].is_chapter()) continue;
    EXPECT_EQ(sections()[i].comment, "") << sections()[i].heading;
    EXPECT_TRUE(i + 1 < sections().size() && !sections()[i + 1].is_chapter())
        << sections()[i].heading;
  }
}

TEST(SpecificationIndex, headings_are_numbered_in_order) {
  int chapter = 0, part = 0;
  for (const Section& section : sections()) {
    if (section.is_chapter())
      ++chapter, part = 0;
    else
      ++part;
    const std::string number =
        part == 0 ? fmt::format("## {} ", chapter) : fmt::format("### {}.{} ", chapter, part);
    EXPECT_TRUE(section.heading.starts_with(number)) << section.heading << " is not " << number;
  }
}

TEST(SpecificationIndex, every_test_of_semantics_belongs_to_a_section) {
  std::set<std::string> cited;
  for (const Section& section : sections())
    for (const std::string& name : tests_of(section)) cited.insert(name);
  for (const std::string& name : text_tests("text/semantics"))
    EXPECT_TRUE(cited.contains(name)) << "no section names `" << name << "`";
}

TEST(SpecificationIndex, mentions_every_operation_that_is_written_by_its_name) {
  size_t mentioned = 0;
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const std::string name(all_ops()[i].mnemonic);
    if (!written_form(static_cast<Opcode>(i)).starts_with(name)) continue;
    EXPECT_TRUE(page().find("`" + name) != std::string::npos) << name;
    ++mentioned;
  }
  EXPECT_GT(mentioned, 70u);
}

}  // namespace
}  // namespace vyre
