#include "runtime/cpu/compile_service.h"

#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "codegen/llvm/llvm_emit.h"
#include "runtime/cpu/compile_message.h"
#include "support/big_stack.h"
#include "support/descriptor.h"

namespace vyre::driver {
namespace {

/// The memory that LLVM needs for the smallest kernel, and for its own tables.
constexpr uint64_t compiler_bytes = 64 << 20;

struct Job {
  Descriptor request, answer;
};

std::optional<Job> receive(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  for (;;) {
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_len != CMSG_LEN(2 * sizeof(int))) continue;
    int fds[2];
    std::memcpy(fds, CMSG_DATA(head), sizeof fds);
    return Job{Descriptor(fds[0]), Descriptor(fds[1])};
  }
}

int answer_fd = -1;
CompileEnd out_of_memory = CompileEnd::OutOfMemory;

/// Ends the process with an answer; allocates no memory.
[[noreturn]] void end_out_of_memory() {
  (void)!::write(answer_fd, &out_of_memory, 1);
  ::_exit(0);
}

uint64_t address_space() {
  unsigned long long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// Limits the memory that this process maps from now on. A lower limit of the system stays.
bool limit_memory(uint64_t bytes) {
  if (bytes == 0) return true;
  const uint64_t used = address_space();
  rlimit limit{};
  if (used == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return false;
  const uint64_t allowed = used + compiler_bytes + std::min(bytes, uint64_t{1} << 60);
  if (allowed >= limit.rlim_cur) return true;
  limit.rlim_cur = allowed;
  out_of_memory = CompileEnd::OverLimit;
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Ends the process at the deadline, whatever it does.
void limit_time(int64_t deadline_ns) {
  if (deadline_ns == 0) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const int64_t left = (deadline_ns - std::chrono::nanoseconds(now).count()) / 1000;
  if (left <= 0) ::_exit(0);
  itimerval timer{};
  timer.it_value.tv_sec = left / 1'000'000;
  timer.it_value.tv_usec = left % 1'000'000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

std::vector<std::byte> emit(const Program& program, const EmitRequest& request) try {
  if (request.listing) {
    const Result<Listing> listing = emit_llvm::list_code(program, request.options);
    return listing ? encode_listing(*listing) : encode_error(listing.errors()[0]);
  }
  const Result<std::string> code = emit_here(program, request);
  return code ? encode_code(*code) : encode_error(code.errors()[0]);
} catch (const std::bad_alloc&) {
  end_out_of_memory();
}

std::vector<std::byte> compile(std::span<const std::byte> bytes) {
  Result<CompileRequest> request = decode_request(bytes);
  if (!request) return encode_error(request.errors()[0]);
  limit_time(request->deadline_ns);
  if (!limit_memory(request->bytes))
    return encode_error(
        diagnose(Code::DeviceFailed, {}, "the compiler process cannot limit its memory")
            .with_fix("mount /proc, or compile without a memory limit"));
  if (request->emit) return emit(request->program, *request->emit);
  const auto kernel = compile_object(request->program, request->options, request->cpu);
  if (kernel) return encode_kernel(**kernel);
  if (kernel.errors()[0].code == Code::OutOfMemory) end_out_of_memory();
  return encode_error(kernel.errors()[0]);
}

[[noreturn]] void answer(const Job& job) {
  answer_fd = job.answer.get();
  std::set_new_handler(end_out_of_memory);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  struct stat info{};
  if (::fstat(job.request.get(), &info) != 0) ::_exit(1);
  const auto size = static_cast<size_t>(info.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, job.request.get(), 0);
  if (at == MAP_FAILED) end_out_of_memory();
  // The stack is mapped before memory is limited.
  run_on_big_stack([&] {
    write_all(job.answer.get(), compile({static_cast<const std::byte*>(at), size}));
    ::_exit(0);
  });
  ::_exit(1);
}

}  // namespace

int serve_compilations(int socket) {
  ::signal(SIGCHLD, SIG_IGN);  // ended processes are not waited for
  ::mallopt(M_ARENA_MAX, 1);   // an arena per thread would reserve memory that the limit counts
  emit_llvm::initialize();
  const pid_t self = ::getpid();
  while (const std::optional<Job> job = receive(socket)) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) ::_exit(1);
      ::close(socket);
      answer(*job);
    }
    if (child < 0) (void)!::write(job->answer.get(), &out_of_memory, 1);
  }
  return 0;
}

}  // namespace vyre::driver
