// Sequences of random API calls (api_fuzz_util.h), some of them by two threads that share devices.

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/api_fuzz_util.h"

namespace vyre::driver {
namespace {

struct Counts {
  size_t values = 0, errors = 0;
};

/// Opens an interpreter and, where it is found, the CPU.
std::vector<Device> open_devices() {
  std::vector<Device> devices;
  for (const char* name : {"interp", "cpu[threads=2]"})
    if (Result<Device> d = Device::open(name)) devices.push_back(std::move(*d));
  return devices;
}

/// Runs one sequence, or two at once, and checks what it leaves.
void run_sequences(uint64_t seed, Counts& counts) {
  std::vector<Device> devices = open_devices();
  std::vector<ApiSequence> sequences;
  const uint64_t threads = seed % 4 == 0 ? 2 : 1;
  for (uint64_t thread = 0; thread < threads; ++thread)
    sequences.emplace_back(2 * seed + thread, devices, threads == 1);
  const auto run = [](ApiSequence& s) {
    s.run(40);
    s.release();
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < sequences.size(); ++i) others.emplace_back(run, std::ref(sequences[i]));
    run(sequences[0]);
  }
  for (const ApiSequence& s : sequences) {
    EXPECT_EQ(s.problem(), "") << "seed " << seed;
    counts.values += s.values();
    counts.errors += s.errors();
  }
  for (Device& d : devices)
    EXPECT_EQ(check_usable(d), "") << "seed " << seed << ", " << d.info().backend;
}

/// Both outcomes are frequent, so that neither side is left out.
void expect_both(const Counts& counts) {
  EXPECT_GT(counts.values, (counts.values + counts.errors) / 4);
  EXPECT_GT(counts.errors, (counts.values + counts.errors) / 10);
}

// labels: threads
TEST(ApiFuzz, calls_in_any_order_return_values_or_coded_errors) {
  Counts counts;
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) run_sequences(seed, counts);
  expect_both(counts);
}

/// The first seed of 2,000.
class ApiFuzzSeeds : public ::testing::TestWithParam<uint64_t> {};

// labels: slow threads
TEST_P(ApiFuzzSeeds, calls_in_any_order_return_values_or_coded_errors) {
  Counts counts;
  for (uint64_t i = 0; i < 2000 && !HasFailure(); ++i) run_sequences(GetParam() + i, counts);
  expect_both(counts);
}
INSTANTIATE_TEST_SUITE_P(from, ApiFuzzSeeds, ::testing::Values(1000, 3000, 5000, 7000, 9000),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace vyre::driver
