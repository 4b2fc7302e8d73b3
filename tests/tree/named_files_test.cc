// Comments and READMEs of src/ name sources that exist. File names are unique, so that a name
// without its folder is enough.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_of_sources() {
  std::set<std::string> names = {"version.h"};  // written by CMake
  for (const char* folder : {"src", "tests", "tools", "include", "bench", "fuzz", "examples"})
    for (const auto& entry :
         fs::recursive_directory_iterator(VYRE_SOURCE_DIR "/" + std::string(folder)))
      names.insert(entry.path().filename().string());
  return names;
}

/// A comment of C++, or a line of a README; "" for code.
std::string prose_of(const std::string& line, bool is_readme) {
  if (is_readme) return line;
  const size_t comment = line.find("//");
  return comment == line.npos ? "" : line.substr(comment);
}

TEST(NamedFiles, exist) {
  static const std::regex named(R"((^|[^\w.*}<])(\w+\.(cc|h|def))\b)");
  const std::set<std::string> names = names_of_sources();
  size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(VYRE_SOURCE_DIR "/src")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc" && extension != ".def" && extension != ".md")
      continue;
    std::istringstream lines(read_file(entry.path().string()).bytes);
    for (std::string line; std::getline(lines, line);) {
      const std::string prose = prose_of(line, extension == ".md");
      if (prose.find(".cc") == prose.npos && prose.find(".h") == prose.npos &&
          prose.find(".def") == prose.npos)
        continue;
      for (std::sregex_iterator it(prose.begin(), prose.end(), named), end; it != end; ++it) {
        ++found;
        EXPECT_TRUE((*it)[2] == "NAME.h" || names.contains((*it)[2]))
            << entry.path() << " names " << (*it)[2];
      }
    }
  }
  EXPECT_GT(found, 400u);
}

}  // namespace
}  // namespace vyre
