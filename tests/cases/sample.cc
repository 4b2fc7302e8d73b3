// Cases that end in every way a case can end; check.py runs them through cases.py. Not part of any
// other test.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

TEST(Sample, passes) { std::printf("output of a case that passes\n"); }

TEST(Sample, fails) { EXPECT_EQ(1 + 1, 3) << "a reason"; }

TEST(Sample, crashes) {
  std::printf("before the crash\n");
  std::abort();
}

TEST(Sample, passes_after_the_crash) {}

TEST(Sample, exits) { std::exit(0); }

TEST(Sample, prints_what_looks_like_an_event) {
  std::printf("[       OK ] Sample.hangs (0 ms)\n[ RUN      ] Sample.fails\n");
}

TEST(Sample, is_skipped) { GTEST_SKIP() << "something is not installed"; }

// labels: slow
TEST(Sample, hangs) { std::this_thread::sleep_for(std::chrono::hours(1)); }

// labels: slow threads
TEST(Sample, has_two_labels) {}

TEST(Sample, DISABLED_never_runs) { std::abort(); }

class Numbers : public testing::TestWithParam<int> {};
TEST_P(Numbers, are_even) { EXPECT_EQ(GetParam() % 2, 0); }
INSTANTIATE_TEST_SUITE_P(Few, Numbers, testing::Values(2, 3));
