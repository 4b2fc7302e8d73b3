// Limits of compilations by the command line: the compiler process, found, missing and dying.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/file.h"
#include "support/process.h"
#include "tests/support/instrumented.h"

namespace vyre {
namespace {

class CompileLimitsOfTheTool : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::path(testing::TempDir()) / "vyre-limits-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs a kernel with x = 1, 2 and y = 10, 20, with a compile cache in the test's folder.
  ProcessResult run(const std::string& kernel, std::vector<std::string> more,
                    const std::string& compiler = "") const {
    std::vector<std::string> words = {"env", "VYRE_CACHE_DIR=" + folder_ + "/cache"};
    if (!compiler.empty()) words.push_back("VYRE_CPU_COMPILER=" + compiler);
    for (const char* word : {VYRE_BIN_DIR "/vyre", "run"}) words.emplace_back(word);
    words.push_back(kernel);
    for (const char* word :
         {"--backend", "cpu", "--in", "x=1,2", "--in", "y=10,20", "--print", "y"})
      words.emplace_back(word);
    words.insert(words.end(), more.begin(), more.end());
    return run_process(words);
  }

  std::string kernel_file(const std::string& name, const std::string& body) const {
    const std::string path = folder_ + "/" + name;
    EXPECT_FALSE(write_file(path,
                            "kernel k(x: in u32[], y: inout u32[]) workgroup(64) grid(len(y)) {\n"
                            "  let i = global_id.x\n" +
                                body + "}\n"));
    return path;
  }
  std::string small() const { return kernel_file("small.vyre", "  y[i] += x[i]\n"); }
  std::string large() const {
    std::string body;
    for (int k = 0; k < 6000; ++k)
      body += fmt::format("  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}\n", k);
    return kernel_file("large.vyre", body);
  }

  std::string folder_;
};

void expect_failure(const ProcessResult& r, int exit_code, const std::string& text) {
  EXPECT_EQ(r.exit_code, exit_code) << r.out << r.err;
  EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
}

TEST_F(CompileLimitsOfTheTool, end_a_compilation_with_a_coded_error) {
  expect_failure(run(large(), {"--time-limit", "0.5"}), 1, "error[V0502]");
  if (!is_instrumented) expect_failure(run(large(), {"--memory-limit", "1K"}), 1, "error[V0503]");
  const ProcessResult fine = run(small(), {"--time-limit", "60", "--memory-limit", "1K"});
  EXPECT_EQ(fine.out, "y: 11 22\n") << fine.err;
}

TEST_F(CompileLimitsOfTheTool, end_an_emission_with_a_coded_error) {
  const std::string kernel = large();
  for (const char* target : {"llvm", "asm"}) {
    const auto emit = [&](const std::string& file, std::vector<std::string> more) {
      std::vector<std::string> words = {VYRE_BIN_DIR "/vyre", "emit", file, "--target", target};
      words.insert(words.end(), more.begin(), more.end());
      return run_process(words);
    };
    expect_failure(emit(kernel, {"--time-limit", "0.5"}), 1, "error[V0502]");
    if (!is_instrumented) expect_failure(emit(kernel, {"--memory-limit", "1K"}), 1, "error[V0503]");
    const ProcessResult plain = emit(small(), {});
    EXPECT_EQ(plain.exit_code, 0) << plain.err;
    EXPECT_EQ(emit(small(), {"--time-limit", "60", "--memory-limit", "1K"}).out, plain.out);
  }
}

TEST_F(CompileLimitsOfTheTool, name_the_compiler_process_that_is_missing) {
  expect_failure(run(small(), {"--time-limit", "60"}, "/nowhere/vyre_cpu_compiler"), 3,
                 "error[V0704]: the compiler process /nowhere/vyre_cpu_compiler cannot be started: "
                 "No such file");
  EXPECT_EQ(run(small(), {}, "/nowhere/vyre_cpu_compiler").out, "y: 11 22\n");
}

TEST_F(CompileLimitsOfTheTool, report_a_compiler_process_that_dies) {
  expect_failure(run(small(), {"--time-limit", "60"}, "/bin/false"), 3, "error[V0704]");
}

TEST_F(CompileLimitsOfTheTool, need_no_compiler_process_for_cached_code) {
  EXPECT_EQ(run(small(), {}).out, "y: 11 22\n");
  const ProcessResult r =
      run(small(), {"--time-limit", "60", "--memory-limit", "1K"}, "/nowhere/vyre_cpu_compiler");
  EXPECT_EQ(r.out, "y: 11 22\n") << r.err;
}

}  // namespace
}  // namespace vyre
