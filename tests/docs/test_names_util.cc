#include "tests/docs/test_names_util.h"

#include <filesystem>
#include <regex>

#include "support/file.h"

namespace vyre {

std::set<std::string> all_test_cases() {
  static const std::regex head(R"(\bTEST(_[FP])?\(\s*(\w+),\s*(\w+)\s*\))");
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(VYRE_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = read_file(entry.path().string()).bytes;
    for (std::sregex_iterator it(text.begin(), text.end(), head), end; it != end; ++it)
      names.insert((*it)[2].str() + "." + (*it)[3].str());
  }
  return names;
}

}  // namespace vyre
