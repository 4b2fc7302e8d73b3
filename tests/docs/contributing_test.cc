// CONTRIBUTING.md: the files that it names exist, and its checklists name every file that an
// existing example of the same kind is in.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

const std::string root = VYRE_SOURCE_DIR "/";

std::string guide() {
  const FileContents file = read_file(root + "CONTRIBUTING.md");
  EXPECT_TRUE(file);
  return file.bytes;
}

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

/// Names of files without a folder: file names are unique in the tree.
bool is_file_of_src(const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(root + "src"))
    if (entry.path().filename() == name) return true;
  return false;
}

/// `src/opt/passes/NAME.h` stands for a file to write; its folder exists.
std::string without_placeholder(const std::string& path) {
  const size_t name = path.find("NAME");
  return name == path.npos ? path : path.substr(0, path.rfind('/', name));
}

TEST(Contributing, names_files_that_exist) {
  size_t named = 0;
  for (const std::string& word : matches(guide(), "`([A-Za-z0-9_./-]+)`")) {
    const bool is_path = word.find('/') != word.npos;
    const bool is_name = std::regex_match(word, std::regex(R"(\w+\.(cc|h|def|md|json))"));
    if (!is_path && !is_name) continue;
    ++named;
    if (word.starts_with("build/")) continue;
    EXPECT_TRUE(fs::exists(root + without_placeholder(word)) || is_file_of_src(word)) << word;
  }
  EXPECT_GT(named, 100u);
}

TEST(Contributing, links_lead_to_files) {
  for (const std::string& link : matches(guide(), R"(\]\(([^)#]+)[^)]*\))"))
    EXPECT_TRUE(fs::exists(root + link)) << link;
}

/// The text below a heading, up to the next one of the same level.
std::string section(const std::string& heading) {
  const std::string text = guide(), head = "\n## " + heading + "\n";
  const size_t begin = text.find(head);
  EXPECT_NE(begin, text.npos) << heading;
  return begin == text.npos ? "" : text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

/// An existing thing of the kind that a checklist is about, as the sources write it.
struct Example {
  std::string_view heading, text;
};

TEST(Contributing, checklists_name_every_file_of_an_example) {
  constexpr Example examples[] = {{"Adding an op", "Opcode::RotR"},
                                  {"Adding an op", "Opcode::SubgroupShuffleXor"},
                                  {"Adding an op", "Opcode::AtomicXor"},
                                  {"Adding a graph construct", "GraphNodeKind"},
                                  {"Adding a device limit", "limits.private_bytes ="},
                                  {"Adding a keyword", "\"continue\", \"return\""}};
  for (const Example& e : examples) {
    const std::string list = section(std::string(e.heading));
    size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root + "src")) {
      const bool is_source = entry.is_regular_file() && entry.path().extension() != ".md";
      if (!is_source || read_file(entry.path().string()).bytes.find(e.text) == std::string::npos)
        continue;
      ++found;
      EXPECT_NE(list.find(entry.path().filename().string()), list.npos)
          << entry.path() << " has " << e.text << " and is not in: " << e.heading;
    }
    EXPECT_GT(found, 1u) << e.text;
  }
}

}  // namespace
}  // namespace vyre
