#include "support/big_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <new>
#include <stdexcept>

namespace vyre {
namespace {

/// Uses more stack than a thread usually has, if `depth` is large.
int recurse(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = char(depth);
  return depth == 0 ? 0 : recurse(depth - 1) + (frame[depth % 4096] == char(depth));
}

TEST(BigStack, holds_deep_recursion) {
  int depth = 0;
  run_on_big_stack([&] { depth = recurse(10'000); });
  EXPECT_EQ(depth, 10'000);
}

TEST(BigStack, passes_exceptions_to_the_caller) {
  EXPECT_THROW(run_on_big_stack([] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(run_on_big_stack([] { throw std::runtime_error("text"); }), std::runtime_error);
}

TEST(BigStack, runs_nested_calls_on_the_same_thread) {
  run_on_big_stack([] {
    const pthread_t outer = pthread_self();
    run_on_big_stack([&] { EXPECT_TRUE(pthread_equal(outer, pthread_self())); });
    EXPECT_THROW(run_on_big_stack([] { throw std::bad_alloc(); }), std::bad_alloc);
  });
}

}  // namespace
}  // namespace vyre
