// The time limit that all runs of `vyre bisect` have together.

#include "tools/vyre/time_budget.h"

#include <gtest/gtest.h>

namespace vyre::cli {
namespace {

TEST(TimeBudget, shares_never_add_up_to_more_than_the_limit) {
  for (const uint64_t runs : {1, 2, 3, 7, 40}) {
    double now = 5, used = 0;
    const TimeBudget budget(1, [&] { return now; });
    for (uint64_t left = runs; left > 0; --left) {
      const Result<double> share = budget.share(left);
      ASSERT_TRUE(share);
      ASSERT_GT(*share, 0);
      now += *share;  // a run that takes all that it has
      used += *share;
    }
    EXPECT_LE(used, 1);
    EXPECT_GT(used, 0.9) << runs;
  }
}

TEST(TimeBudget, runs_that_end_early_leave_their_time_to_others) {
  double now = 0;
  const TimeBudget budget(1, [&] { return now; });
  EXPECT_NEAR(*budget.share(4), 0.25, 0.002);
  now = 0.1;
  EXPECT_NEAR(*budget.share(3), 0.3, 0.002);
  EXPECT_NEAR(*budget.share(1), 0.9, 0.002);
}

TEST(TimeBudget, is_an_error_when_it_is_used_up) {
  double now = 0;
  const TimeBudget budget(1, [&] { return now; });
  now = 1;
  const Result<double> share = budget.share();
  ASSERT_FALSE(share);
  EXPECT_EQ(share.errors()[0].code, Code::TimeLimitExceeded);
  EXPECT_FALSE(share.errors()[0].fix.empty());
  now = 0.9996;  // not 0, which would be no limit
  EXPECT_FALSE(budget.share());
}

TEST(TimeBudget, without_a_limit_every_share_is_unlimited) {
  double now = 0;
  const TimeBudget budget(0, [&] { return now; });
  now = 1e9;
  EXPECT_EQ(*budget.share(100), 0);
}

}  // namespace
}  // namespace vyre::cli
