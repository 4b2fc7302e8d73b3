// The version of the library is the one that the change log, the installation guide and the editor
// extension name.

#include "support/version.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/file.h"

namespace vyre {
namespace {

std::string contents(const std::string& path) {
  const FileContents file = read_file(std::string(VYRE_SOURCE_DIR "/") + path);
  EXPECT_TRUE(file) << path;
  return file.bytes;
}

std::string minor_version() {
  const std::string version(library_version());
  return version.substr(0, version.rfind('.'));
}

TEST(Version, change_log_begins_with_it) {
  const std::string page = contents("CHANGELOG.md");
  const size_t first = page.find("\n## ");
  ASSERT_NE(first, page.npos);
  EXPECT_TRUE(page.substr(first).starts_with(fmt::format("\n## {}\n", library_version())));
}

TEST(Version, is_the_one_of_find_package) {
  const std::string wanted = fmt::format("find_package(vyre {} REQUIRED)", minor_version());
  for (const char* file : {"docs/library.md", "tests/package/outside/CMakeLists.txt"})
    EXPECT_NE(contents(file).find(wanted), std::string::npos) << file;
}

TEST(Version, is_the_one_of_the_editor_extension) {
  const std::string wanted = fmt::format("\"version\": \"{}\"", library_version());
  EXPECT_NE(contents("editors/vscode/package.json").find(wanted), std::string::npos);
}

}  // namespace
}  // namespace vyre
