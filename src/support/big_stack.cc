#include "support/big_stack.h"

#include <pthread.h>

namespace vyre {
namespace {

constexpr size_t stack_bytes = 128u << 20;  // reserved, not touched: only what is used costs memory

void* call(void* fn) {
  (*static_cast<const std::function<void()>*>(fn))();
  return nullptr;
}

}  // namespace

void run_on_big_stack(const std::function<void()>& fn) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
              pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&fn)) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) return fn();
  pthread_join(thread, nullptr);
}

}  // namespace vyre
