#include "runtime/cpu/isolated_compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "runtime/cpu/compile_message.h"
#include "support/descriptor.h"

extern char** environ;

namespace vyre::driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* compiler_name = "vyre_cpu_compiler";

Diagnostic failed(std::string message) {
  return diagnose(Code::DeviceFailed, {}, std::move(message))
      .with_fix(fmt::format("install {} beside libvyre_cpu.so, or compile without limits",
                            compiler_name));
}

Diagnostic failed_by(const char* what, int code) {
  return failed(fmt::format("{}: {}", what, std::strerror(code)));
}

/// Returns the path of the compiler: beside the library that holds this function, or in ../lib of
/// the program that holds it.
std::string compiler_path() {
  if (const char* given = std::getenv("VYRE_CPU_COMPILER"); given && *given) return given;
  namespace fs = std::filesystem;
  Dl_info info{};
  std::error_code error;
  fs::path own;
  if (::dladdr(reinterpret_cast<void*>(&compile_isolated), &info) && info.dli_fname)
    own = fs::absolute(info.dli_fname, error);
  if (own.empty() || !fs::exists(own, error)) own = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = own.parent_path() / compiler_name;
  const fs::path in_lib = own.parent_path() / "../lib" / compiler_name;
  return (!fs::exists(beside, error) && fs::exists(in_lib, error) ? in_lib : beside).string();
}

/// The compiler process that serves this process.
class Compiler {
 public:
  static Compiler& instance() {
    static Compiler* const made = new Compiler;  // stays: devices may outlive what runs at exit
    return *made;
  }

  /// Sends a job; starts the compiler process if there is none, or once more if it has died.
  Result<> send(int request, int answer) {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0;; ++attempt) {
      if (!socket_.open())
        if (Result<> started = start(); !started) return started;
      const int code = pass(request, answer);
      if (code == 0) return Ok{};
      stop();
      if (attempt == 1) return failed_by("the compiler process takes no requests", code);
    }
  }

 private:
  Result<> start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return failed_by("a socket for the compiler process", errno);
    Descriptor ours(ends[0]), theirs(ends[1]);
    const std::string path = compiler_path();
    if (const int code = spawn(path, theirs.get()))
      return failed(
          fmt::format("the compiler process {} cannot be started: {}", path, std::strerror(code)));
    socket_ = std::move(ours);
    return Ok{};
  }

  /// Starts the process with the socket as its standard input. It does not write to the caller's
  /// terminal, and must not keep the caller's pipes open.
  int spawn(const std::string& path, int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (const int code = ::posix_spawn_file_actions_init(&actions)) return code;
    if (const int code = ::posix_spawnattr_init(&attributes)) {
      ::posix_spawn_file_actions_destroy(&actions);
      return code;
    }
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    int code = ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      if (!code) code = ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    if (!code) code = ::posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = ::posix_spawnattr_setsigdefault(&attributes, &all);
    if (!code) code = ::posix_spawnattr_setpgroup(&attributes, 0);
    if (!code)
      code = ::posix_spawnattr_setflags(
          &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = path;
    char* arguments[] = {name.data(), nullptr};
    if (!code)
      code = ::posix_spawn(&process_, path.c_str(), &actions, &attributes, arguments, environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return code;
  }

  void stop() {
    socket_.reset();
    if (process_ > 0) ::waitpid(process_, nullptr, WNOHANG);
    process_ = -1;
  }

  /// Passes the descriptors on; returns 0, or errno.
  int pass(int request, int answer) {
    char byte = 0;
    iovec data{&byte, 1};
    const int fds[2] = {request, answer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(head), fds, sizeof fds);
    while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0)
      if (errno != EINTR) return errno;
    return 0;
  }

  std::mutex mutex_;
  Descriptor socket_;
  pid_t process_ = -1;
};

/// Reads to the end of the pipe, at most until the deadline. Returns false if the deadline passed
/// first.
bool read_answer(int fd, const std::optional<Clock::time_point>& deadline,
                 std::vector<std::byte>& answer) {
  constexpr size_t step = 1 << 16;
  for (;;) {
    int wait = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (left.count() <= 0) return false;
      wait = static_cast<int>(std::min<int64_t>(left.count(), 60'000));
    }
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, wait) <= 0) continue;
    const size_t at = answer.size();
    answer.resize(at + step);
    const ssize_t n = ::read(fd, answer.data() + at, step);
    answer.resize(at + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n == 0 || (n < 0 && errno != EINTR)) return true;
  }
}

/// An answer and the bytes that it points into.
struct Exchange {
  std::vector<std::byte> bytes;
  CompileAnswer answer;
};

/// Sends a request to the compiler process, and waits for the answer until the deadline.
Result<Exchange> exchange(const Program& program, std::span<const std::byte> request_bytes,
                          const CompileLimits& limits) {
  Descriptor request;
  if (const int code = make_memory_file(request_bytes, request))
    return failed_by("a request for the compiler process", code);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failed_by("a pipe for the compiler process", errno);
  Descriptor ours(ends[0]), theirs(ends[1]);
  if (Result<> sent = Compiler::instance().send(request.get(), theirs.get()); !sent)
    return sent.errors();
  theirs.reset();
  request.reset();
  Exchange made;
  const bool ended = read_answer(ours.get(), limits.deadline(), made.bytes);
  const std::optional<CompileAnswer> answer = ended ? decode_answer(made.bytes) : std::nullopt;
  if (!answer && limits.is_over()) return limits.timed_out(program);
  if (!answer)
    return diagnose(Code::DeviceFailed, program.place(program.loc),
                    fmt::format("the compiler process of kernel `{}` ended without a result",
                                program.name))
        .with_fix("use a smaller kernel, or free memory");
  switch (answer->end) {
    case CompileEnd::Done: break;
    case CompileEnd::Failed: return answer->error;
    case CompileEnd::OverLimit: return limits.out_of_memory(program);
    case CompileEnd::OutOfMemory: return out_of_memory_in_llvm(program);
  }
  made.answer = *answer;
  return made;
}

}  // namespace

Result<std::shared_ptr<CpuKernel>> compile_isolated(const Program& program,
                                                    const CompileOptions& options,
                                                    const CpuOptions& cpu) {
  const Result<Exchange> done =
      exchange(program, encode_request(program, options, cpu), options.limits);
  if (!done) return done.errors();
  std::shared_ptr<CpuKernel> kernel = load_cpu_kernel(program, options, cpu, done->answer.result);
  if (!kernel) return failed("the compiler process gave code that cannot be linked");
  kernel->emit_ns = done->answer.emit_ns;
  return kernel;
}

Result<std::string> emit_isolated(const Program& program, const EmitRequest& request,
                                  const CompileLimits& limits) {
  const Result<Exchange> done = exchange(program, encode_request(program, request, limits), limits);
  if (!done) return done.errors();
  const std::span<const std::byte> code = done->answer.result;
  return std::string(reinterpret_cast<const char*>(code.data()), code.size());
}

Result<Listing> list_isolated(const Program& program, EmitRequest request,
                              const CompileLimits& limits) {
  request.listing = true;
  const Result<Exchange> done = exchange(program, encode_request(program, request, limits), limits);
  if (!done) return done.errors();
  std::optional<Listing> listing = decode_listing(done->answer.result);
  if (!listing) return failed("the compiler process gave a listing that cannot be read");
  return std::move(*listing);
}

}  // namespace vyre::driver
