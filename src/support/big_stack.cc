#include "support/big_stack.h"

#include <pthread.h>

#include <new>

namespace vyre {
namespace {

// Reserved, not touched: only what is used costs memory. The smaller one is for little address
// space; the reader of the language needs no more.
constexpr size_t stack_bytes[] = {128u << 20, 16u << 20};

void* call(void* fn) {
  (*static_cast<const std::function<void()>*>(fn))();
  return nullptr;
}

}  // namespace

void run_on_big_stack(const std::function<void()>& fn) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  for (const size_t bytes : stack_bytes) {
    if (started || pthread_attr_init(&attributes) != 0) continue;
    started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
              pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&fn)) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) throw std::bad_alloc();  // the caller's stack may be too small
  pthread_join(thread, nullptr);
}

}  // namespace vyre
