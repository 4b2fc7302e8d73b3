#include "tests/cli/cli_util.h"

#include "support/file.h"

namespace vyre {

namespace fs = std::filesystem;

const char* const saxpy =
    "kernel saxpy(a: f32, x: in f32[], y: inout f32[]) workgroup(64) grid(len(y)) {\n"
    "  let i = global_id.x\n"
    "  y[i] = fma(a, x[i], y[i])\n"
    "}\n";

const char* const two_kernels =
    "kernel first(y: out u32[4]) workgroup(4) grid(4) {\n"
    "  y[global_id.x] = global_id.x\n"
    "}\n"
    "\n"
    "kernel second(y: out u32[4]) workgroup(4) grid(4) {\n"
    "  y[global_id.x] = 7\n"
    "}\n";

void CommandLine::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "vyre_cli_test.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void CommandLine::TearDown() { fs::remove_all(folder_); }

ProcessResult CommandLine::vyre(std::vector<std::string> words, const std::string& input) const {
  words.insert(words.begin(), std::string(VYRE_BIN_DIR) + "/vyre");
  ProcessOptions options;
  options.input = input;
  options.working_folder = folder_.string();
  options.timeout = std::chrono::minutes(1);
  return run_process(words, options);
}

std::string CommandLine::file(const std::string& name, const std::string& text) const {
  EXPECT_FALSE(write_file(path(name), text));
  return path(name);
}

std::string CommandLine::contents(const std::string& name) const {
  return read_file(path(name)).bytes;
}

void expect_exit(const ProcessResult& r, int code) {
  EXPECT_EQ(r.exit_code, code) << "stdout:\n" << r.out << "stderr:\n" << r.err;
}

void expect_code(const ProcessResult& r, const std::string& code) {
  EXPECT_NE(r.err.find("[" + code + "]"), std::string::npos) << "expected " << code << ", got:\n"
                                                             << r.err << r.out;
}

}  // namespace vyre
