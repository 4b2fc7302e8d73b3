#include "diagnostics/budget.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vyre {
namespace {

Code code_of(const Budget& budget, uint64_t bytes) {
  try {
    budget.check(bytes);
  } catch (const BudgetExceeded& exceeded) {
    return exceeded.code;
  }
  return Code::InternalError;  // nothing is exceeded
}

TEST(Budget, without_limits_is_never_exceeded) {
  Budget budget;
  EXPECT_FALSE(budget.limited());
  for (int i = 0; i < 10000; ++i) EXPECT_FALSE(budget.due());
  EXPECT_EQ(code_of(budget, ~0ull), Code::InternalError);
}

TEST(Budget, ends_at_its_limits) {
  EXPECT_EQ(code_of(Budget(0, 100), 100), Code::InternalError);
  EXPECT_EQ(code_of(Budget(0, 100), 101), Code::MemoryLimitExceeded);
  EXPECT_EQ(code_of(Budget(1e-9, 0), 0), Code::TimeLimitExceeded);
  EXPECT_EQ(code_of(Budget(1e300, 0), 0), Code::InternalError);
}

TEST(Budget, is_due_now_and_then) {
  Budget budget(100);
  int due = 0;
  for (int i = 0; i < 10000; ++i) due += budget.due();
  EXPECT_GT(due, 10);
  EXPECT_LT(due, 1000);
}

/// Polls as often as a loop over 10,000 ops.
bool ends_a_loop(const Budget& budget) {
  const BudgetPoll poll(budget);
  try {
    for (int i = 0; i < 10'000; ++i) WorkDeadline::poll_current();
  } catch (const BudgetExceeded& exceeded) {
    return exceeded.code == Code::TimeLimitExceeded;
  }
  return false;
}

TEST(Budget, time_ends_loops_that_poll_the_deadline_of_their_thread) {
  EXPECT_TRUE(ends_a_loop(Budget(1e-9)));
  EXPECT_FALSE(ends_a_loop(Budget(1000)));
  EXPECT_FALSE(ends_a_loop(Budget(0, 1)));
  EXPECT_FALSE(ends_a_loop(Budget()));
  EXPECT_EQ(WorkDeadline::current(), nullptr);
}

TEST(Budget, diagnostics_name_the_work_and_the_limit) {
  const Budget budget(0.5, 4096);
  const Diagnostic time = budget.diagnostic({Code::TimeLimitExceeded}, "reading `a`", {"a"});
  EXPECT_EQ(time.message, "reading `a` takes more than 0.5 seconds");
  EXPECT_EQ(time.place.file, "a");
  const Diagnostic memory = budget.diagnostic({Code::MemoryLimitExceeded}, "reading `a`", {});
  EXPECT_EQ(memory.message, "memory limit: reading `a` takes more than 4096 bytes");
}

TEST(Budget, time_limits_are_numbers_from_zero) {
  EXPECT_FALSE(fault_of_time_limit(0));
  EXPECT_FALSE(fault_of_time_limit(INFINITY));
  EXPECT_TRUE(fault_of_time_limit(-1));
  EXPECT_TRUE(fault_of_time_limit(std::nan("")));
}

}  // namespace
}  // namespace vyre
