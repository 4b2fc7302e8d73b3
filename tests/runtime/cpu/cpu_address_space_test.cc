// Compiling for the CPU in a small address space: an error with a code, and never a crash.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/file.h"
#include "support/process.h"
#include "tests/support/instrumented.h"

#ifndef VYRE_INSTRUMENTED

namespace vyre {
namespace {

/// Keeps LLVM busy for about a second, with about a hundred megabytes.
std::string kernel_text() {
  std::string body;
  for (int k = 0; k < 300; ++k)
    body += fmt::format("  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}\n", k);
  return "kernel k(x: in u32[], y: inout u32[]) workgroup(64) grid(len(y)) {\n"
         "  let i = global_id.x\n" +
         body + "}\n";
}

/// Runs the kernel with so many kilobytes of address space.
ProcessResult run_within(uint64_t kilobytes, const std::string& file, const std::string& flags) {
  return run_process({"bash", "-c",
                      fmt::format("ulimit -c 0; ulimit -v {}; VYRE_CACHE=off exec {}/vyre run {} "
                                  "--backend cpu --in x=1,2 --in y=3,4 --print y {}",
                                  kilobytes, VYRE_BIN_DIR, file, flags)});
}

/// Runs with each amount from `first` on, to the first with which it succeeds; at most 3 GB.
void sweep(uint64_t step, const std::string& flags) {
  std::string folder = (std::filesystem::path(testing::TempDir()) / "vyre-space-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(folder.data()));
  const std::string file = folder + "/k.vyre";
  ASSERT_FALSE(write_file(file, kernel_text()));
  bool done = false;
  size_t named = 0;
  for (uint64_t kilobytes = 150'000; kilobytes < 3'000'000 && !done; kilobytes += step) {
    const ProcessResult r = run_within(kilobytes, file, flags);
    SCOPED_TRACE(fmt::format("{} kB", kilobytes));
    EXPECT_TRUE(r.exit_code == 0 || r.exit_code == 3) << r.exit_code << "\n" << r.err;
    if (r.exit_code == 3) {
      EXPECT_NE(r.err.find("error[V0"), std::string::npos) << r.err;
      named += r.err.find("error[V0521]: out of memory: LLVM") != std::string::npos;
    }
    done = r.exit_code == 0;
  }
  EXPECT_TRUE(done);
  EXPECT_GT(named, 0u);  // the sweep met LLVM
  std::filesystem::remove_all(folder);
}

// labels: slow
TEST(AddressSpace, too_small_for_a_compilation_in_the_process) { sweep(7'000, ""); }

// labels: slow
TEST(AddressSpace, too_small_for_the_compiler_process) { sweep(11'000, "--time-limit 60"); }

}  // namespace
}  // namespace vyre

#endif
