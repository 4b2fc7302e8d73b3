// Interrupted long commands report the completed work.

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class Stopped : public CommandLine {
 protected:
  /// Starts `vyre words`, sends `signals` (all at once) when it has written something, and waits.
  ProcessResult stop(const std::string& words, const std::string& signals) const {
    ProcessOptions options;
    options.working_folder = folder_.string();
    options.timeout = std::chrono::minutes(2);
    const std::string script = "rm -f out\n" + std::string(VYRE_BIN_DIR) + "/vyre " + words +
                               " > out & p=$!\n"
                               "until [ -s out ]; do sleep 0.01; done\n" +
                               signals + "\nwait $p; code=$?\ncat out; exit $code\n";
    return run_process({"bash", "-c", script}, options);
  }
};

// `timeout` sends two.
TEST_F(Stopped, fuzz_ends_with_its_summary_however_often_it_is_terminated) {
  for (int i = 0; i < 5; ++i) {
    const auto r = stop("fuzz --minutes 5 --backends interp", "kill -TERM $p $p $p $p");
    expect_exit(r, 0);
    EXPECT_NE(r.out.find(" programs a second, 0 mismatches"), std::string::npos) << r.out;
  }
}

TEST_F(Stopped, fuzz_ends_with_its_summary_at_one_interrupt) {
  const auto r = stop("fuzz --minutes 5 --backends interp", "kill -INT $p");
  expect_exit(r, 0);
  EXPECT_NE(r.out.find(" programs a second, 0 mismatches"), std::string::npos) << r.out;
}

TEST_F(Stopped, certify_says_that_it_was_stopped) {
  for (const char* signal : {"kill -INT $p", "kill -TERM $p $p"}) {
    const auto r = stop("certify --backend interp --fuzz 1000000", signal);
    EXPECT_NE(r.out.find("stopped"), std::string::npos) << r.out;
    EXPECT_LT(r.exit_code, 128) << signal;
  }
}

}  // namespace
}  // namespace vyre
