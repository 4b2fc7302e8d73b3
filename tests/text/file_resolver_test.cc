// Imports and table files: which files are read, how often, and how much of them.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "support/file.h"
#include "tests/text/front_end_util.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

class FileResolver : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vyre_resolver_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directory(folder_ / "root");
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Parses a main file of the folder `root`.
  ParseOutcome parse_main(const std::string& text, const FileAccess& access = {}) const {
    return parse(text + kernel("k", ""),
                 {.file_name = path("root/main.vyre"), .resolver = file_resolver(access)});
  }
  std::string error(const std::string& text, const FileAccess& access = {}) const {
    const ParseOutcome outcome = parse_main(text, access);
    return outcome.diagnostics.empty()
               ? ""
               : to_string(outcome.diagnostics[0].code) + " " + outcome.diagnostics[0].message;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_FALSE(write_file(path(name), text));
  }

  fs::path folder_;
};

bool ends_with(const std::string& text, std::string_view end) { return text.ends_with(end); }

TEST_F(FileResolver, refuses_files_that_are_not_regular) {
  ASSERT_EQ(::mkfifo(path("root/fifo").c_str(), 0600), 0);
  fs::create_directory(folder_ / "root/folder");
  fs::create_symlink("/dev/zero", folder_ / "root/link");
  for (const char* name : {"fifo", "/dev/zero", "/dev/null", "/dev/stdin", "link"}) {
    EXPECT_TRUE(ends_with(error(fmt::format("import \"{}\"\n", name)), "not a regular file"))
        << error(fmt::format("import \"{}\"\n", name));
    EXPECT_TRUE(
        ends_with(error(fmt::format("const t: u8[] = @\"{}\"\n", name)), "not a regular file"))
        << name;
  }
  EXPECT_EQ(error("import \"folder\"\n").substr(0, 5), "V0169");
  EXPECT_EQ(error("import \"missing\"\n").substr(0, 5), "V0169");
  EXPECT_EQ(error("const t: u8[] = @\"folder\"\n").substr(0, 5), "V0161");
}

TEST_F(FileResolver, reads_no_more_of_a_file_than_its_limit) {
  write("root/table", std::string(65536, 'x'));
  EXPECT_EQ(error("const t: u8[] = @\"table\"\n"), "");
  write("root/table", std::string(65537, 'x'));
  EXPECT_TRUE(
      ends_with(error("const t: u8[] = @\"table\"\n"), "larger than the limit of 65536 bytes"));
  // A hole: 257 MiB that no disk holds.
  write("root/large", "");
  fs::resize_file(folder_ / "root/large", 257u << 20);
  EXPECT_NE(error("import \"large\"\n").find("larger than the limit"), std::string::npos);
}

TEST_F(FileResolver, reads_a_file_once) {
  std::map<std::string, int> reads;
  ImportResolver resolver;
  resolver.name = file_resolver().name;
  resolver.read = [&](const std::string& name, uint64_t) {
    ++reads[name];
    return FileContents{
        ends_with(name, "t") ? "1234" : "import \"b\"\nimport \"./b\"\nimport \"main\"\n", {}};
  };
  const std::string source =
      "import \"a\"\nimport \"./a\"\nimport \"x/../a\"\nimport \"b\"\n"
      "const t: u8[] = @\"t\"\nconst u: u8[] = @\"./t\"\n" +
      kernel("k", "");
  EXPECT_TRUE(parse(source, {.file_name = "main", .resolver = resolver}).module);
  EXPECT_EQ(reads, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"t", 1}}));
}

TEST_F(FileResolver, tables_count_as_memory) {
  write("root/table", std::string(65536, 'x'));
  const std::string tables =
      lines(2000, [](int i) { return fmt::format("const t{}: u8[] = @\"table\"", i); }) +
      kernel("k", "");
  const ParseOptions options{
      .file_name = path("root/main.vyre"), .resolver = file_resolver(), .memory_limit = 32u << 20};
  EXPECT_EQ(error_codes(parse(tables, options).diagnostics), "V0503");
}

TEST_F(FileResolver, refuses_more_than_a_thousand_imports) {
  write("root/a", "");
  const auto imports = [](int n) {
    return lines(n, [](int) { return std::string("import \"a\""); });
  };
  EXPECT_EQ(error(imports(1000)), "");
  EXPECT_EQ(error(imports(1001)), "V0169 cannot import `a`: a program has at most 1000 imports");
  for (int i = 0; i < 1001; ++i)  // each imports the next one
    write(fmt::format("root/f{}", i), fmt::format("import \"f{}\"\n", i + 1));
  EXPECT_EQ(error("import \"f0\"\n"),
            "V0169 cannot import `f1000`: a program has at most 1000 imports");
}

TEST_F(FileResolver, limits_all_sources_together) {
  ImportResolver resolver;
  resolver.name = [](const std::string& path, const std::string&) { return path; };
  std::vector<uint64_t> limits;
  resolver.read = [&](const std::string&, uint64_t max_bytes) {
    limits.push_back(max_bytes);
    return FileContents{std::string(1000, '\n'), {}};
  };
  const std::string source = "import \"a\"\nimport \"b\"\n" + kernel("k", "");
  EXPECT_TRUE(parse(source, {.resolver = resolver}).module);
  const uint64_t all = 256u << 20;
  EXPECT_EQ(limits, (std::vector<uint64_t>{all - source.size(), all - source.size() - 1000}));
}

TEST_F(FileResolver, time_limit_ends_imports) {
  ImportResolver resolver;
  resolver.name = [](const std::string& path, const std::string&) { return path; };
  int reads = 0;
  resolver.read = [&](const std::string&, uint64_t) {
    ++reads;
    ::usleep(20'000);
    return FileContents{"", {}};
  };
  const std::string source =
      lines(1000, [](int i) { return fmt::format("import \"f{}\"", i); }) + kernel("k", "");
  const ParseOutcome outcome = parse(source, {.resolver = resolver, .time_limit = 0.1});
  EXPECT_EQ(error_codes(outcome.diagnostics), "V0502");
  EXPECT_LE(reads, 6);
}

TEST_F(FileResolver, root_confines_imports_and_tables) {
  write("root/inside", "const c = 1\n");
  write("outside", "const c = 1\n");
  fs::create_directory(folder_ / "root/deeper");
  fs::create_symlink("../inside", folder_ / "root/deeper/in");
  fs::create_symlink("../../outside", folder_ / "root/deeper/out");
  fs::create_directory_symlink(folder_, folder_ / "root/up");
  fs::create_directory(folder_ / "root2");
  write("root2/file", "");
  for (const std::string& root : {path("root"), path("root") + "/", path("root2/../root")}) {
    const FileAccess access{root};
    EXPECT_EQ(error("import \"inside\"\n", access), "");
    EXPECT_EQ(error("import \"deeper/../inside\"\n", access), "");
    EXPECT_EQ(error("import \"deeper/in\"\n", access), "");
    EXPECT_EQ(error(fmt::format("import \"{}\"\n", path("root/inside")), access), "");
    for (const std::string& name :
         {std::string("../outside"), std::string("deeper/out"), std::string("up/outside"),
          std::string("up/missing"), std::string("../root2/file"), path("outside"),
          std::string("/etc/passwd")}) {
      EXPECT_NE(
          error(fmt::format("import \"{}\"\n", name), access).find("is outside of the folder"),
          std::string::npos)
          << name;
      EXPECT_NE(error(fmt::format("const t: u8[] = @\"{}\"\n", name), access)
                    .find("is outside of the folder"),
                std::string::npos)
          << name;
    }
    EXPECT_EQ(error("import \"missing\"\n", access).find("outside"), std::string::npos);
  }
  EXPECT_EQ(error("import \"../outside\"\n"), "");
}

TEST_F(FileResolver, without_a_resolver_files_are_refused) {
  const Diagnostics found =
      parse("import \"a\"\nconst t: u8[] = @\"t\"\n" + kernel("k", "")).diagnostics;
  EXPECT_EQ(error_codes(found), "V0169 V0161");
}

}  // namespace
}  // namespace vyre
