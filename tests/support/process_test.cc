#include "support/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>

namespace vyre {
namespace {

ProcessResult shell(const std::string& script, const ProcessOptions& options = {}) {
  return run_process({"/bin/sh", "-c", script}, options);
}

TEST(Process, collects_both_streams_and_the_exit_code) {
  const ProcessResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.start_error, 0);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(Process, passes_arguments_untouched) {
  EXPECT_EQ(run_process({"printf", "%s|", "a b", "", "*", "$x"}).out, "a b||*|$x|");
}

TEST(Process, gives_input_and_then_the_end) {
  EXPECT_EQ(shell("cat", {.input = "one\ntwo"}).out, "one\ntwo");
  EXPECT_EQ(shell("cat").out, "");
}

TEST(Process, survives_a_child_that_does_not_read_its_input) {
  EXPECT_EQ(shell("exit 0", {.input = std::string(1 << 20, 'x')}).exit_code, 0);
}

TEST(Process, large_input_and_output_do_not_block) {
  const std::string text(3 << 20, 'y');
  const ProcessResult result = shell("tee /dev/stderr", {.input = text});
  EXPECT_EQ(result.out.size(), text.size());
  EXPECT_EQ(result.err.size(), text.size());
}

TEST(Process, missing_program_is_a_start_error) {
  EXPECT_EQ(run_process({"/no/such/program"}).start_error, ENOENT);
  EXPECT_EQ(run_process({}).start_error, EINVAL);
}

TEST(Process, signal_is_reported_as_a_shell_does) {
  const ProcessResult result = shell("kill -TERM $$");
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
}

TEST(Process, time_out_ends_the_child_and_its_children) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result =
      shell("echo begun; sleep 60 & wait", {.timeout = std::chrono::milliseconds(300)});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.out, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Process, does_not_wait_for_what_the_child_left_behind) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shell("sleep 20 & echo $!");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ::kill(std::stoi(result.out), SIGKILL);
}

TEST(Process, too_much_output_is_cut) {
  const ProcessResult result = shell("yes", {.max_output = 1000});
  EXPECT_TRUE(result.output_cut);
  EXPECT_EQ(result.out.size(), 1000u);
}

TEST(Process, runs_in_the_folder_it_is_told) {
  EXPECT_EQ(shell("pwd", {.working_folder = "/"}).out, "/\n");
}

TEST(Process, a_stop_ends_the_child) {
  const std::atomic<bool> stop = true;
  ProcessOptions options;
  options.stop = &stop;
  const ProcessResult r = run_process({"sleep", "200"}, options);
  EXPECT_TRUE(r.stopped);
  EXPECT_FALSE(r.timed_out);
  EXPECT_EQ(r.signal, SIGKILL);
}

}  // namespace
}  // namespace vyre
