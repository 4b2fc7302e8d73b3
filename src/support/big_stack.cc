#include "support/big_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <exception>
#include <new>

namespace vyre {
namespace {

// Reserved, not touched: only pages that are used cost memory. The smaller size is for small
// address spaces; the reader of the language needs no more.
constexpr size_t stack_bytes[] = {128u << 20, 16u << 20};

thread_local bool on_big_stack = false;

struct Call {
  const std::function<void()>& fn;
  std::exception_ptr failure;
  bool is_large = false;  // the stack is the larger one
};

void* run(void* data) {
  auto& call = *static_cast<Call*>(data);
  on_big_stack = call.is_large;
  try {
    call.fn();
  } catch (...) {
    call.failure = std::current_exception();
  }
  return nullptr;
}

/// True if the address space has no room for the smaller stack. pthread_create reports the same
/// error for this and for a refused thread.
bool lacks_memory() {
  void* const probe =
      ::mmap(nullptr, stack_bytes[1], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return true;
  ::munmap(probe, stack_bytes[1]);
  return false;
}

}  // namespace

void run_on_big_stack(const std::function<void()>& fn) {
  if (on_big_stack) return fn();
  Call call{fn, nullptr, false};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  for (const size_t bytes : stack_bytes) {
    if (started || pthread_attr_init(&attributes) != 0) continue;
    call.is_large = bytes == stack_bytes[0];
    started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
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
