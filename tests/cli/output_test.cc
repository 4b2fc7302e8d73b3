// The files that `vyre run` writes: all of them or none, and never two into one.

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/json.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Outputs : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("k.vyre",
         "kernel k(n: u32, x: out u8[2], y: out u8[2]) workgroup(1) grid(1) {\n"
         "  assert(n < 9, 5)\n  x[0] = 65\n  x[1] = 66\n  y[0] = 67\n  y[1] = 68\n}\n");
  }
  ProcessResult run(const Words& more, const char* n = "n=1") const {
    Words words = {"run", "k.vyre", "--backend", "interp", "--set", n};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words);
  }
  size_t entries() const {
    return size_t(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
};

TEST_F(Outputs, are_all_written) {
  file("x.bin", "before");
  const auto r = run({"--out", "x=@x.bin", "--out", "y=@y.bin", "--report", "r.json", "--trace",
                      "t.json", "--profile-out", "p.json"});
  expect_exit(r, 0);
  EXPECT_EQ(contents("x.bin"), "AB");
  EXPECT_EQ(contents("y.bin"), "CD");
  EXPECT_TRUE(Json::accept(contents("r.json")));
  EXPECT_TRUE(Json::accept(contents("t.json")));
  EXPECT_TRUE(Json::accept(contents("p.json")));
  EXPECT_EQ(entries(), 6u) << "a temporary file is left";
}

TEST_F(Outputs, that_cannot_be_opened_end_the_command_before_the_run) {
  file("x.bin", "before");
  const size_t before = entries();
  for (const char* wrong : {"y=@missing/y.bin", "y=@.", "y=@k.vyre/y.bin", "y=@y.bin/"}) {
    // The run would trap.
    const auto r = run({"--out", "x=@x.bin", "--out", wrong}, "n=9");
    expect_exit(r, 3);
    expect_code(r, "V0641");
    EXPECT_EQ(r.err.find("V0501"), std::string::npos) << r.err;
    EXPECT_EQ(contents("x.bin"), "before") << wrong;
  }
  EXPECT_EQ(entries(), before);
}

TEST_F(Outputs, that_cannot_be_written_leave_the_others_as_they_were) {
  file("x.bin", "before");
  fs::create_symlink("/dev/full", path("full.json"));
  const size_t before = entries();
  const Words each[] = {{"--out", "x=@x.bin", "--out", "y=@/dev/full"},
                        {"--out", "y=@/dev/full", "--out", "x=@x.bin"},
                        {"--out", "x=@x.bin", "--report", "full.json"},
                        {"--out", "x=@x.bin", "--trace", "full.json"},
                        {"--out", "x=@x.bin", "--profile-out", "full.json"}};
  for (const Words& words : each) {
    const auto r = run(words);
    expect_exit(r, 3);
    expect_code(r, "V0641");
    EXPECT_EQ(contents("x.bin"), "before") << words[3];
  }
  EXPECT_EQ(entries(), before);
}

TEST_F(Outputs, of_a_failed_run_stay_as_they_were_and_its_report_is_written) {
  file("x.bin", "before");
  const auto r = run({"--out", "x=@x.bin", "--out", "y=@y.bin", "--report", "r.json"}, "n=9");
  expect_exit(r, 1);
  expect_code(r, "V0501");
  EXPECT_EQ(contents("x.bin"), "before");
  EXPECT_FALSE(fs::exists(path("y.bin")));
  EXPECT_EQ(Json::parse(contents("r.json"))["exit_code"], 1);
}

TEST_F(Outputs, cannot_be_one_file_with_two_names) {
  file("a", "before");
  fs::create_symlink("a", path("link"));
  fs::create_symlink("link", path("link2"));
  fs::create_hard_link(path("a"), path("hard"));
  fs::create_directory(path("folder"));
  fs::create_directory_symlink("folder", path("folder2"));
  fs::create_symlink("folder/new", path("dangling"));
  fs::create_symlink("/dev/null", path("null"));
  const std::pair<std::string, std::string> pairs[] = {
      {"a", "a"},
      {"a", "./a"},
      {"a", path("a")},
      {"a", "folder/../a"},
      {"a", "link"},
      {"link", "link2"},
      {"a", "hard"},
      {"folder/new", "folder2/new"},
      {"dangling", "folder/new"},
      {"new", "./new"},
      {"/dev/null", "null"},
  };
  const size_t before = entries();
  for (const auto& [one, two] : pairs) {
    const auto r = run({"--out", "x=@" + one, "--out", "y=@" + two});
    expect_exit(r, 2);
    expect_code(r, "V0610");
    EXPECT_EQ(contents("a"), "before") << one << " and " << two;
    EXPECT_FALSE(fs::exists(path("folder/new")));
  }
  fs::create_symlink("a", path("a.json"));
  expect_code(run({"--out", "x=@a", "--report", "a.json"}), "V0610");
  expect_code(run({"--report", "a.json", "--trace", "a"}), "V0610");
  expect_code(run({"--trace", "hard", "--profile-out", "link"}), "V0610");
  EXPECT_EQ(contents("a"), "before");
  EXPECT_EQ(entries(), before + 1);
}

TEST_F(Outputs, go_where_links_lead) {
  fs::create_directory(path("folder"));
  fs::create_symlink("folder/new", path("dangling"));
  expect_exit(run({"--out", "x=@dangling"}), 0);
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  EXPECT_EQ(contents("folder/new"), "AB");
  fs::create_symlink("round2", path("round1"));
  fs::create_symlink("round1", path("round2"));
  const auto r = run({"--out", "x=@round1"});
  expect_exit(r, 3);
  expect_code(r, "V0641");
}

TEST_F(Outputs, may_have_names_of_255_bytes) {
  for (const size_t length : {248, 249, 250, 254, 255}) {
    const std::string name(length, 'n');
    for (int i = 0; i < 2; ++i) {  // new, then replaced
      expect_exit(run({"--out", "x=@" + name}), 0);
      EXPECT_EQ(contents(name), "AB") << length;
    }
  }
  const auto r = run({"--out", "x=@" + std::string(256, 'n')}, "n=9");
  expect_exit(r, 3);
  expect_code(r, "V0641");
}

/// Runs a line of the shell in the test's folder; `VYRE` is the command up to `--set`.
ProcessResult shell(const fs::path& folder, const std::string& line) {
  ProcessOptions options;
  options.working_folder = folder.string();
  options.timeout = std::chrono::minutes(1);
  return run_process(
      {"bash", "-c",
       "vyre() { " VYRE_BIN_DIR "/vyre run k.vyre --backend interp --set n=1 \"$@\"; }; " + line},
      options);
}

TEST_F(Outputs, that_are_pipes_are_written_one_after_the_other) {
  ASSERT_EQ(::mkfifo(path("p").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(path("q").c_str(), 0600), 0);
  const auto r = shell(folder_, "vyre --out x=@p --out y=@q & cat p; echo; cat q; wait $!");
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "AB\nCD");
  EXPECT_TRUE(fs::is_fifo(path("p")));
}

TEST_F(Outputs, to_standard_output_precede_what_is_printed) {
  auto r = shell(folder_, "vyre --out x=@/dev/stdout --print y");
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "ABy: 67 68\n");
  // Into a file, which a rename would replace.
  r = shell(folder_, "{ echo first; vyre --out x=@/dev/stdout --print y; echo last; } > log");
  expect_exit(r, 0);
  EXPECT_EQ(contents("log"), "first\nABy: 67 68\nlast\n");
  r = shell(folder_, "vyre --out x=@log --print y >> log");
  EXPECT_EQ(contents("log"), "first\nABy: 67 68\nlast\nABy: 67 68\n");
}

}  // namespace
}  // namespace vyre
