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

TEST(HotPaths, measurements_of_one_device_do_not_count_on_another) {
  HotPathHints hints;
  hints.record("k", 128'000, 8, "interp: reference interpreter");
  hints.record("k", 1'600, 8, "cpu: a");
  EXPECT_TRUE(hints.is_hot("k", "interp: reference interpreter"));
  EXPECT_FALSE(hints.is_hot("k", "cpu: a"));
  EXPECT_FALSE(hints.is_hot("k", "cpu: b"));
  EXPECT_FALSE(hints.find("k", "cpu: b"));
  EXPECT_FALSE(hints.is_hot("k")) << "nothing was measured on an unknown device";
  EXPECT_EQ(hints.find("k", "cpu: a")->mean_ns(), 1'600u);
  ASSERT_EQ(hints.entries().size(), 2u);
  EXPECT_EQ(hints.entries()[0].device, "cpu: a");
}

TEST(HotPaths, measurements_of_an_unknown_device_count_until_the_device_has_its_own) {
  HotPathHints hints;
  hints.record("k", 128'000, 8);
  EXPECT_TRUE(hints.is_hot("k"));
  EXPECT_TRUE(hints.is_hot("k", "cpu: a"));
  EXPECT_EQ(hints.find("k", "cpu: a")->device, "");
  hints.record("k", 1'600, 8, "cpu: a");
  EXPECT_FALSE(hints.is_hot("k", "cpu: a"));
  EXPECT_TRUE(hints.is_hot("k", "cpu: b"));
}

TEST(HotPaths, a_slow_device_does_not_displace_measurements_of_a_fast_one) {
  HotPathHints hints(2);
  for (const char* op : {"a", "b", "c"}) {
    hints.record(op, 10, 0, "fast");
    hints.record(op, 1'000'000, 0, "slow");
  }
  EXPECT_EQ(hints.entries().size(), 4u);
  EXPECT_TRUE(hints.find("c", "fast"));
  EXPECT_TRUE(hints.find("c", "slow"));
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
