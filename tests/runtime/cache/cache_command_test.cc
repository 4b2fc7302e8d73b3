// `vyre cache` from outside.

#include <sys/stat.h>

#include "runtime/cache/cache.h"
#include "support/file.h"
#include "support/json.h"
#include "tests/cli/cli_util.h"
#include "tests/runtime/cache/cache_util.h"

namespace vyre::driver {
namespace {

using Json = nlohmann::json;

class CacheCommandLine : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    ::setenv("VYRE_CACHE_DIR", path("cache").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"VYRE_CACHE_DIR", "VYRE_CACHE_SIZE", "VYRE_CACHE"}) ::unsetenv(name);
    CommandLine::TearDown();
  }
  static constexpr const char* folder = "cache/vyre-entries/";

  /// Gives the entry's file.
  std::string store(const std::string& name, uint32_t constant, size_t bytes) {
    Program p = toy_program(constant);
    p.name = name;
    const CacheKey key = make_key(p, toy_device(), {.extra = {"a=1"}});
    CompileCache(CacheOptions::from_environment()).store(key, p, toy_code(constant, bytes));
    return std::string(folder) + CacheDirectory::file_name(key.hash);
  }
  void damage(const std::string& name) {
    std::string bytes = contents(name);
    bytes[bytes.size() / 2] ^= 1;
    file(name, bytes);
  }
  Json json(std::vector<std::string> words, int code) {
    words.push_back("--json");
    const auto r = vyre(words);
    expect_exit(r, code);
    EXPECT_EQ(r.err, "");
    return try_parse_json<Json>(r.out);
  }
};

TEST_F(CacheCommandLine, lists_nothing_where_nothing_is) {
  const auto r = vyre({"cache", "ls"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, path("cache") + ": 0 entries, 0 B of 512 MiB\n");
  expect_exit(vyre({"cache", "verify"}), 0);
  expect_exit(vyre({"cache", "clear"}), 0);
  EXPECT_FALSE(std::filesystem::exists(path("cache"))) << "looking makes no folder";
}

TEST_F(CacheCommandLine, lists_kernels_targets_sizes_and_ages) {
  store("first", 1, 100'000);
  store("second\x1b[31m", 2, 100);
  auto r = vyre({"cache", "ls"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("2 entries"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("first "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("toy toy_1"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("98 KiB"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos) << "a name may not steer the terminal";

  const Json j = json({"cache", "ls"}, 0);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["limit_bytes"], 512 << 20);
  ASSERT_EQ(j["entries"].size(), 2u);
  const Json& e = j["entries"][1];  // used last first
  EXPECT_EQ(e["kernel"], "first");
  EXPECT_EQ(e["target"], "toy_1");
  EXPECT_EQ(e["driver_version"], "1.0");
  EXPECT_EQ(e["extra"], Json::array({"a=1"}));
  EXPECT_GT(e["bytes"], 100'000);
  EXPECT_LT(e["age_seconds"], 60);
  EXPECT_GE(e["idle_seconds"], 0);
}

TEST_F(CacheCommandLine, verifies_and_names_what_is_damaged) {
  store("first", 1, 1000);
  const std::string second = store("second", 2, 1000);
  auto r = vyre({"cache", "verify"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("checked 2 entries"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("all good"), std::string::npos) << r.out;

  damage(second);
  r = vyre({"cache", "verify"});
  expect_exit(r, 1);
  expect_code(r, "V0571");
  EXPECT_NE(r.err.find(second.substr(std::string_view(folder).size())), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("1 damaged"), std::string::npos) << r.out;
  const Json j = json({"cache", "verify"}, 1);
  EXPECT_EQ(j["ok"], false);
  EXPECT_EQ(j["checked"], 2);
  EXPECT_EQ(j["bad"][0]["file"], second.substr(std::string_view(folder).size()));
  expect_exit(vyre({"cache", "ls"}), 0);
}

TEST_F(CacheCommandLine, verifies_that_an_entry_has_the_name_of_its_key) {
  const std::string first = store("first", 1, 1000), second = store("second", 2, 1000);
  file(second, contents(first));
  ASSERT_EQ(::chmod(path(second).c_str(), 0600), 0);
  const auto r = vyre({"cache", "verify"});
  expect_exit(r, 1);
  EXPECT_NE(r.err.find("named like another"), std::string::npos) << r.err;
}

TEST_F(CacheCommandLine, clears_its_own_files_and_says_how_much) {
  store("first", 1, 1000);
  file("cache/notes.txt", "mine");
  file("cache/tmp-notes", "mine");
  const Json j = json({"cache", "clear"}, 0);
  EXPECT_EQ(j["removed"], 1);
  EXPECT_GT(j["bytes"], 1000);
  EXPECT_EQ(contents("cache/notes.txt"), "mine");
  EXPECT_EQ(contents("cache/tmp-notes"), "mine");
  store("first", 1, 1000);
  const auto r = vyre({"cache", "clear"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("removed 1 file, "), std::string::npos) << r.out;
  EXPECT_EQ(json({"cache", "ls"}, 0)["entries"].size(), 0u);
}

TEST_F(CacheCommandLine, folder_that_others_may_write_to) {
  std::filesystem::create_directory(path("cache"));
  ASSERT_EQ(::chmod(path("cache").c_str(), 0777), 0);
  for (const char* action : {"ls", "verify", "clear"}) {
    const auto r = vyre({"cache", action});
    expect_exit(r, 3);
    expect_code(r, "V0572");
  }
  EXPECT_EQ(json({"cache", "ls"}, 3)["ok"], false);
}

TEST_F(CacheCommandLine, setting_without_meaning_is_a_warning) {
  ::setenv("VYRE_CACHE_SIZE", "lots", 1);
  const auto r = vyre({"cache", "ls"});
  expect_exit(r, 0);
  expect_code(r, "V0573");
  EXPECT_EQ(json({"cache", "ls"}, 0)["diagnostics"][0]["code"], "V0573");
}

TEST_F(CacheCommandLine, wrong_or_missing_action) {
  auto r = vyre({"cache", "list"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
  r = vyre({"cache"});
  expect_exit(r, 2);
  expect_code(r, "V0604");
  r = vyre({"cache", "--help"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("EXAMPLE\n  vyre cache ls\n"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace vyre::driver
