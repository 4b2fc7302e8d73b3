// Limits of reading a program from the command line: time, memory and files.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "support/file.h"
#include "tests/cli/cli_util.h"
#include "tests/text/front_end_util.h"

namespace vyre {
namespace {

class SourceLimits : public CommandLine {
 protected:
  std::string expanding() const {
    return file("expanding.vyre", doubling_functions(40) + kernel("k", "  y[0] = a40(1)"));
  }
  /// A program whose output is a file.
  std::string copying(const std::string& name) const {
    return file("copying.vyre", fmt::format("const t: u8[] = @\"{}\"\n"
                                            "kernel k(y: out u8[4]) workgroup(4) grid(4) {{\n  "
                                            "y[global_id.x] = t[global_id.x]\n}}\n",
                                            name));
  }
};

TEST_F(SourceLimits, time_limit_covers_reading) {
  for (const char* command : {"check", "run", "bisect", "opt"}) {
    const ProcessResult r = vyre({command, expanding(), "--time-limit", "0.1"});
    expect_exit(r, 1);
    expect_code(r, "V0502");
  }
  for (const char* target : {"llvm", "asm", "ptx", "spirv"})
    expect_code(vyre({"emit", expanding(), "--target", target, "--time-limit", "0.1"}), "V0502");
}

TEST_F(SourceLimits, memory_limit_covers_reading) {
  for (const char* command : {"check", "run", "bisect", "opt"}) {
    const ProcessResult r = vyre({command, expanding(), "--memory-limit", "1M"});
    expect_exit(r, 1);
    expect_code(r, "V0503");
  }
  for (const char* target : {"llvm", "ptx", "spirv"})
    expect_code(vyre({"emit", expanding(), "--target", target, "--memory-limit", "1M"}), "V0503");
  const std::string small = file("small.vyre", kernel("k", "  y[0] = 1"));
  expect_exit(vyre({"check", small, "--memory-limit", "1", "--time-limit", "100"}), 0);
  expect_exit(vyre({"run", small, "--backend", "interp", "--memory-limit", "16"}), 0);
}

TEST_F(SourceLimits, limits_of_check_are_read_without_sanitize) {
  const std::string small = file("small.vyre", kernel("k", "  y[0] = 1"));
  expect_code(vyre({"check", small, "--time-limit", "soon"}), "V0607");
  expect_code(vyre({"check", small, "--memory-limit", "-1"}), "V0607");
}

// The program has a million ops: parsing, passes and printing each poll the deadline.
TEST_F(SourceLimits, time_limit_covers_passes) {
  const std::string large =
      file("large.vyre", doubling_functions(20) + kernel("k", "  y[0] = a20(1)"));
  const ProcessResult r = vyre({"opt", large, "--time-limit", "0.3"});
  expect_exit(r, 1);
  expect_code(r, "V0502");
  EXPECT_EQ(r.out, "");
}

TEST_F(SourceLimits, limits_of_opt_and_emit_are_read) {
  const std::string small = file("small.vyre", kernel("k", "  y[0] = 1"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"opt", small}, {"emit", small, "--target", "ptx"}}) {
    const auto with = [&](const char* flag, const char* value) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {flag, value});
      return vyre(all);
    };
    expect_code(with("--time-limit", "soon"), "V0607");
    expect_code(with("--memory-limit", "-1"), "V0607");
    EXPECT_EQ(with("--time-limit", "100").out, vyre(words).out);
    EXPECT_EQ(with("--memory-limit", "0").out, vyre(words).out);
  }
}

TEST_F(SourceLimits, no_imports_refuses_files) {
  file("data", "abcd");
  file("library.vyre", "const c = 1\n");
  const std::string importing =
      file("importing.vyre", "import \"library.vyre\"\n" + kernel("k", "  y[0] = c"));
  for (const char* command : {"check", "run", "bisect", "opt"}) {
    expect_code(vyre({command, copying("data"), "--no-imports"}), "V0161");
    expect_code(vyre({command, importing, "--no-imports"}), "V0169");
    expect_exit(vyre({command, importing, "--no-imports"}), 2);
  }
  expect_exit(vyre({"check", importing}), 0);
}

TEST_F(SourceLimits, import_root_confines_files) {
  file("data", "abcd");
  const ProcessResult inside = vyre({"run", copying("data"), "--backend", "interp", "--import-root",
                                     folder_.string(), "--print", "y"});
  expect_exit(inside, 0);
  EXPECT_EQ(inside.out, "y: 97 98 99 100\n");
  for (const char* command : {"check", "run", "bisect", "opt"})
    expect_code(vyre({command, copying("/etc/passwd"), "--import-root", folder_.string()}),
                "V0161");
  expect_exit(vyre({"check", copying("/etc/hostname")}), 0);
}

TEST_F(SourceLimits, import_root_is_a_folder) {
  const std::string small = file("small.vyre", kernel("k", "  y[0] = 1"));
  expect_code(vyre({"check", small, "--import-root", path("missing")}), "V0607");
  expect_code(vyre({"check", small, "--import-root", small}), "V0607");
  expect_exit(vyre({"check", small, "--import-root", folder_.string(), "--no-imports"}), 2);
}

TEST_F(SourceLimits, files_stay_refused_beside_wrong_flags) {
  const std::string secret = "this line is secret\n";
  file("secret", secret);
  const std::string importing =
      file("importing.vyre", "import \"secret\"\n" + kernel("k", "  y[0] = 1"));
  std::filesystem::create_directory(folder_ / "empty");
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"--no-imports", "--const", "wrong"}, Words{"--import-root", path("missing")},
        Words{"--import-root", path("empty"), "--const", "wrong"}}) {
    Words all = {"run", importing};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessResult r = vyre(all);
    expect_exit(r, 2);
    EXPECT_EQ(r.err.find("secret\n"), std::string::npos) << r.err;
  }
}

TEST_F(SourceLimits, programs_and_inputs_are_read_from_pipes) {
  const std::string adding =
      "kernel k(x: in u8[], y: out u8[len(x)]) workgroup(4) grid(len(x)) {\n  let i = "
      "global_id.x\n  y[i] = x[i] + 1\n}\n";
  const std::string fifo = path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto through_fifo = [&](const std::string& bytes, std::vector<std::string> words) {
    std::thread writer([&] { (void)write_file(fifo, bytes); });
    const ProcessResult r = vyre(std::move(words));
    const int unblock = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);  // a writer without a reader
    writer.join();
    ::close(unblock);
    expect_exit(r, 0);
    EXPECT_EQ(r.out, "y: 2 3 4\n");
  };
  const std::string program = file("adding.vyre", adding);
  through_fifo("\1\2\3",
               {"run", program, "--backend", "interp", "--in", "x=@" + fifo, "--print", "y"});
  through_fifo(adding, {"run", fifo, "--backend", "interp", "--in", "x=1,2,3", "--print", "y"});
  const ProcessResult r =
      vyre({"run", "-", "--backend", "interp", "--in", "x=1,2,3", "--print", "y"}, adding);
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 2 3 4\n");
}

}  // namespace
}  // namespace vyre
