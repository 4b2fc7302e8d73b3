#pragma once

// Runs another program and collects its output: for tests of the command line and for tools that
// are used where they are installed (ptxas, spirv-val).

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace vyre {

struct ProcessOptions {
  std::string input;           // given to the child's standard input, which then ends
  std::string working_folder;  // "" is the current one
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  const std::atomic<bool>* stop = nullptr;         // ends the child soon after it becomes true
  std::size_t max_output = std::size_t{64} << 20;  // a stream each; the child is killed beyond it
};

struct ProcessResult {
  /// The program could not be started (errno), otherwise 0; then nothing else is set.
  int start_error = 0;
  int exit_code = -1;  // 128 + the signal's number when a signal ended it, as in a shell
  int signal = 0;
  bool timed_out = false;
  bool stopped = false;
  bool output_cut = false;
  std::string out;
  std::string err;
};

/// Runs `command[0]` (searched in PATH when it has no slash) with the rest as its arguments and
/// waits for it to end. The child runs in a separate process group, which is killed on a time-out,
/// a stop or too much output. Background processes of the child are not waited for. Never raises
/// SIGPIPE in the caller.
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

}  // namespace vyre
