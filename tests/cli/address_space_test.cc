// labels: slow

// The command line with less and less address space (`ulimit -v`): a result, or an error with a
// code.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class AddressSpace : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("t.vyre", R"(
fn mix(x: u32) -> u32 { return (x ^ x >> 15) * 0x2c1b3c6du32 }
kernel k(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  var t: u32[64]
  shared s: u32[64]
  for i in 0..64 { t[i] = mix(x[global_id.x] + i) }
  s[local_id.x] = t[x[global_id.x] & 63]
  barrier workgroup
  y[global_id.x] = s[63 - local_id.x]
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  call k(x, a)
  call k(a, y)
}
)");
  }

  /// Runs `vyre words…` with so many MiB of address space.
  ProcessResult vyre_within(uint64_t mebibytes, const std::vector<std::string>& words) const {
    std::vector<std::string> command = {
        "/bin/sh", "-c",
        fmt::format("VYRE_CACHE=off; export VYRE_CACHE; ulimit -v {} && exec \"$@\"",
                    mebibytes << 10),
        "sh", VYRE_BIN_DIR "/vyre"};
    command.insert(command.end(), words.begin(), words.end());
    ProcessOptions options;
    options.working_folder = folder_.string();
    return run_process(command, options);
  }

  /// The loader of shared libraries needs this much before vyre runs.
  uint64_t smallest() const {
    uint64_t mebibytes = 8;
    while (mebibytes < 1024 && vyre_within(mebibytes, {"--version"}).exit_code != 0) mebibytes += 2;
    return mebibytes;
  }

  /// Up to the first of several sizes in a row that suffice.
  void sweep(const std::vector<std::string>& words) const {
    uint64_t failed = 0, enough = 0;
    for (uint64_t at = smallest(); enough < 8 && at < 8192; at += at < 512 ? 4 : at / 8) {
      const ProcessResult r = vyre_within(at, words);
      enough = r.exit_code == 0 ? enough + 1 : 0;
      if (r.exit_code == 0) continue;
      ++failed;
      // LLVM ends the process itself when it is out of memory.
      if (r.err.find("LLVM ERROR: out of memory") != r.err.npos) continue;
      EXPECT_EQ(r.exit_code, 3) << at << " MiB: " << r.err;
      EXPECT_NE((r.out + r.err).find("error[V"), r.err.npos) << at << " MiB: " << r.err;
    }
    EXPECT_GT(failed, 0u) << "the sweep began too large";
    EXPECT_EQ(enough, 8u);
  }
};

TEST_F(AddressSpace, that_is_too_small_is_an_error_on_the_interpreter) {
  sweep({"run", "t.vyre:k", "--backend", "interp", "--in", "x=random:2000000"});
}

TEST_F(AddressSpace, that_is_too_small_is_an_error_on_the_cpu) {
  sweep({"run", "t.vyre:k", "--backend", "cpu", "--in", "x=random:100000"});
}

TEST_F(AddressSpace, that_is_too_small_is_an_error_of_a_graph) {
  sweep({"run", "t.vyre:g", "--backend", "cpu", "--in", "x=random:1000000", "--verify"});
}

TEST_F(AddressSpace, that_is_too_small_is_an_error_of_the_sanitizer) {
  sweep({"check", "t.vyre:k", "--sanitize", "--in", "x=random:300000"});
}

}  // namespace
}  // namespace vyre
