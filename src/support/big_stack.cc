#include "support/big_stack.h"

#include <pthread.h>

#include <exception>

namespace vyre {
namespace {

constexpr size_t stack_bytes = 128u << 20;  // reserved, not touched: only what is used costs memory

struct Call {
  const std::function<void()>& fn;
  std::exception_ptr failure;
};

void* run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  try {
    call.fn();
  } catch (...) {
    call.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_big_stack(const std::function<void()>& fn) {
  Call call{fn, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
              pthread_create(&thread, &attributes, run, &call) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) return fn();
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(std::move(call.failure));
}

}  // namespace vyre
