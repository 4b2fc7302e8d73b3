// Every operation of the table is in the printed form of some round-trip test, so that text and
// wire form are known to keep it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "ir/ops.h"
#include "text/print.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

// Nothing is excused: an operation that no program can hold would have no reason to be in the
// table.
const std::set<std::string_view> excused = {};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The operation of a printed line: `%3, %4 = load_n x[%0] : u32` holds load_n.
std::string operation(std::string line) {
  line.erase(0, line.find_first_not_of(' '));
  if (line.starts_with('%')) line.erase(0, std::min(line.size(), line.find(" = ") + 3));
  return line.substr(0, line.find_first_of(" .\n"));
}

/// The operations of all round-trip tests, as printed.
std::set<std::string> printed_operations() {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(VYRE_SOURCE_DIR "/tests/text")) {
    if (entry.path().extension() != ".vyre") continue;
    const std::string source = read(entry.path());
    if (!source.starts_with("// test: round-trip")) continue;
    const auto loaded = cli::load_module_bytes(source, entry.path().string(), {});
    if (!loaded.module) continue;  // the runner says why, or it needs the flags of its header
    std::istringstream lines(print(*loaded.module));
    for (std::string line; std::getline(lines, line);) found.insert(operation(line));
  }
  return found;
}

TEST(RoundTripCoverage, every_operation_is_printed_by_a_round_trip_test) {
  const std::set<std::string> found = printed_operations();
  ASSERT_FALSE(found.empty()) << "no round-trip test could be read";
  for (const OpInfo& op : all_ops()) {
    const bool printed = found.contains(std::string(op.mnemonic));
    EXPECT_NE(printed, excused.contains(op.mnemonic))
        << op.mnemonic
        << (printed ? " is excused and printed: remove the excuse"
                    : " is in no round-trip test: add it to one in tests/text/round-trip");
  }
}

}  // namespace
}  // namespace vyre
