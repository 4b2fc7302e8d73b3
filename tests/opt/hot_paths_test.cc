#include "opt/hot_paths.h"

#include <gtest/gtest.h>

#include <thread>

namespace vyre::opt {
namespace {

TEST(HotPaths, a_mean_exactly_at_the_threshold_is_hot) {
  HotPathHints hints;
  hints.record("at", 100'000, 0);
  hints.record("below", 99'999, 0);
  hints.record("mean", 50'000, 0);
  hints.record("mean", 150'000, 0);
  EXPECT_TRUE(hints.is_hot("at"));
  EXPECT_FALSE(hints.is_hot("below"));
  EXPECT_TRUE(hints.is_hot("mean"));
}

TEST(HotPaths, what_was_not_recorded_or_has_no_name_is_never_hot) {
  HotPathHints hints(4, 0);
  hints.record("", 1'000'000, 8);
  EXPECT_TRUE(hints.entries().empty());
  EXPECT_FALSE(hints.is_hot(""));
  EXPECT_FALSE(hints.is_hot("other"));
}

TEST(HotPaths, over_capacity_the_smallest_total_goes_but_not_the_one_just_recorded) {
  HotPathHints hints(2);
  hints.record("large", 500, 0);
  hints.record("middle", 300, 0);
  hints.record("tiny", 1, 0);
  const auto entries = hints.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].op_id, "large");
  EXPECT_EQ(entries[1].op_id, "tiny");
}

TEST(HotPaths, capacity_zero_records_nothing) {
  HotPathHints hints(0);
  hints.record("a", 1'000'000, 1);
  EXPECT_TRUE(hints.entries().empty());
  EXPECT_FALSE(hints.is_hot("a"));
}

TEST(HotPaths, sums_saturate) {
  HotPathHints hints;
  hints.record("a", ~0ull, ~0ull);
  hints.record("a", 5, 5);
  EXPECT_EQ(hints.entries()[0].total_ns, ~0ull);
  EXPECT_EQ(hints.entries()[0].bytes, ~0ull);
}

TEST(HotPaths, threads_record_at_once) {
  HotPathHints hints(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) hints.record("k", 3, 2);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(hints.entries()[0].launches, 4000u);
  EXPECT_EQ(hints.entries()[0].total_ns, 12000u);
}

}  // namespace
}  // namespace vyre::opt
