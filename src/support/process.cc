#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "support/descriptor.h"

extern char** environ;

namespace vyre {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;

  // Returns 0 or errno. The parent's end does not block: it reads available bytes, and keeps the
  // deadline.
  int create() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
  }
};

int spawn(pid_t& pid, const std::vector<std::string>& command, const ProcessOptions& options,
          int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (const int code = ::posix_spawn_file_actions_init(&actions)) return code;
  if (const int code = ::posix_spawnattr_init(&attributes)) {
    ::posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  // The child starts with default signals whatever this process blocks or ignores.
  sigset_t none;
  sigset_t pipe_only;
  ::sigemptyset(&none);
  ::sigemptyset(&pipe_only);
  ::sigaddset(&pipe_only, SIGPIPE);

  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  int code = ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  if (!code) code = ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (!code) code = ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  if (!code && !options.working_folder.empty()) {
    code = ::posix_spawn_file_actions_addchdir_np(&actions, options.working_folder.c_str());
  }
  if (!code) code = ::posix_spawnattr_setsigmask(&attributes, &none);
  if (!code) code = ::posix_spawnattr_setsigdefault(&attributes, &pipe_only);
  if (!code) code = ::posix_spawnattr_setpgroup(&attributes, 0);
  if (!code) {
    code = ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  if (!code) {
    code = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return code;
}

// Reads the available bytes; closes the pipe at its end. False if there are more than `cap`.
bool drain(Descriptor& from, std::string& to, std::size_t cap) {
  std::array<char, 1 << 14> buffer;
  while (from.open()) {
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n > 0) {
      const std::size_t room = cap - to.size();
      to.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
      if (static_cast<std::size_t>(n) > room) return false;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      return true;
    } else {
      from.reset();
    }
  }
  return true;
}

void set_status(ProcessResult& result, int status) {
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.exit_code = 128 + result.signal;
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  ProcessResult result;
  const auto failed = [&](int code) {
    result.start_error = code;
    return result;
  };
  if (command.empty()) return failed(EINVAL);

  Descriptor input;
  Pipe out;
  Pipe err;
  // Standard input is a file in memory: no writer can block or get a closed pipe.
  if (const int code = make_memory_file(std::as_bytes(std::span(options.input)), input))
    return failed(code);
  if (const int code = out.create()) return failed(code);
  if (const int code = err.create()) return failed(code);
  pid_t pid = -1;
  if (const int code =
          spawn(pid, command, options, input.get(), out.write_end.get(), err.write_end.get())) {
    return failed(code);
  }
  out.write_end.reset();
  err.write_end.reset();

  const Clock::time_point deadline = Clock::now() + options.timeout;
  int status = 0;
  for (;;) {
    // waitpid is called before the pipes are drained, so that all output of the child is read.
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    const bool fits = drain(out.read_end, result.out, options.max_output) &&
                      drain(err.read_end, result.err, options.max_output);
    if (!fits) result.output_cut = true;
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) break;

    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) result.timed_out = true;
    result.stopped = options.stop && options.stop->load(std::memory_order_relaxed);
    if (result.timed_out || result.stopped || result.output_cut) {
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    // Closing a pipe ends this wait at once. A child that closed both, or left them open in a
    // background process, is checked again soon.
    std::array<pollfd, 2> wait{pollfd{out.read_end.get(), POLLIN, 0},
                               pollfd{err.read_end.get(), POLLIN, 0}};
    const bool any = out.read_end.open() || err.read_end.open();
    ::poll(wait.data(), wait.size(),
           static_cast<int>(std::min<long long>(left.count(), any ? 20 : 1)));
  }
  set_status(result, status);
  return result;
}

}  // namespace vyre
