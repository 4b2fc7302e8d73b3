#include "support/big_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <exception>
#include <new>

namespace vyre {
namespace {

constexpr size_t stack_bytes = 128u << 20;  // reserved, not touched: only what is used costs memory

thread_local bool on_big_stack = false;

struct Call {
  const std::function<void()>& fn;
  std::exception_ptr failure;
};

void* run(void* data) {
  auto& call = *static_cast<Call*>(data);
  on_big_stack = true;
  try {
    call.fn();
  } catch (...) {
    call.failure = std::current_exception();
  }
  return nullptr;
}

/// True if the address space has no room for the stack. pthread_create reports the same error for
/// this and for a refused thread.
bool lacks_memory() {
  void* const probe =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return true;
  ::munmap(probe, stack_bytes);
  return false;
}

}  // namespace

void run_on_big_stack(const std::function<void()>& fn) {
  if (on_big_stack) return fn();
  Call call{fn, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
              pthread_create(&thread, &attributes, run, &call) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) {
    if (lacks_memory()) throw std::bad_alloc();
    return fn();
  }
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace vyre
