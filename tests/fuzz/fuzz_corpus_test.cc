// The inputs that libFuzzer found (fuzz/corpus), through the functions of its targets.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

#include "fuzz/checker.h"
#include "fuzz/device_name_reader.h"
#include "fuzz/import_resolver.h"
#include "fuzz/plan_reader.h"
#include "fuzz/telemetry_reader.h"
#include "fuzz/text_parser.h"
#include "fuzz/wire_decoder.h"
#include "support/file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

struct FuzzTarget {
  const char* name;
  std::function<std::string(const std::string&)> check;  // "" or what is wrong
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

const FuzzTarget fuzz_targets[] = {
    {"checker", [](const std::string& s) { return check_checker(resealed(bytes_of(s))); }},
    {"device_name_reader", [](const std::string& s) { return check_device_name(s); }},
    {"import_resolver", [](const std::string& s) { return check_import_resolver(s); }},
    {"text_parser", [](const std::string& s) { return check_parser(s); }},
    {"plan_reader", [](const std::string& s) { return check_plan_reader(s); }},
    {"telemetry_reader", [](const std::string& s) { return check_telemetry_reader(s); }},
    {"wire_decoder",
     [](const std::string& s) {
       const std::string as_it_is = check_wire_decoder(bytes_of(s));
       return as_it_is.empty() ? check_wire_decoder(resealed(bytes_of(s))) : as_it_is;
     }},
};

class FuzzCorpus : public ::testing::TestWithParam<const FuzzTarget*> {};

TEST_P(FuzzCorpus, has_no_finding) {
  const FuzzTarget& target = *GetParam();
  size_t files = 0;
  for (const auto& entry :
       fs::directory_iterator(VYRE_SOURCE_DIR "/fuzz/corpus/" + std::string(target.name))) {
    const FileContents contents = read_file(entry.path().string());
    ASSERT_TRUE(contents) << entry.path();
    EXPECT_EQ(target.check(contents.bytes), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 10u);
}

std::vector<const FuzzTarget*> all_targets() {
  std::vector<const FuzzTarget*> all;
  for (const FuzzTarget& t : fuzz_targets) all.push_back(&t);
  return all;
}
INSTANTIATE_TEST_SUITE_P(of, FuzzCorpus, ::testing::ValuesIn(all_targets()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(FuzzTargets, are_all_replayed) {
  std::set<std::string> sources, replayed;
  for (const auto& entry : fs::directory_iterator(VYRE_SOURCE_DIR "/fuzz"))
    if (entry.path().extension() == ".cc") sources.insert(entry.path().stem().string());
  for (const FuzzTarget& t : fuzz_targets) replayed.insert(t.name);
  EXPECT_EQ(replayed, sources);
}

}  // namespace
}  // namespace vyre
