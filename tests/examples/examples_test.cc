// The small examples against plain C++ on sizes around a block, with data too long for their
// comments. The bigger ones have files of their own beside this one.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/examples/examples_util.h"

namespace vyre::examples {
namespace {

TEST(examples, saxpy_is_one_fma_an_element) {
  const Module m = load("saxpy.vyre");
  for (size_t n : sizes) {
    std::vector<float> x(n), y(n), want(n);
    for (size_t i = 0; i < n; ++i)
      x[i] = float(i) * 0.37f, y[i] = 1.0f / float(i + 1), want[i] = std::fma(1.7f, x[i], y[i]);
    EXPECT_EQ(elements<float>(run(m, {scalar(1.7f), bytes(x), bytes(y)})[2]), want) << n;
  }
}

TEST(examples, xor_repeats_its_key) {
  const Module m = load("xor.vyre");
  for (size_t n : sizes) {
    std::vector<uint8_t> data(n), key = {1, 2, 250}, want(n);
    for (size_t i = 0; i < n; ++i)
      data[i] = uint8_t(i * 7), want[i] = uint8_t(data[i] ^ key[i % 3]);
    EXPECT_EQ(elements<uint8_t>(run(m, {bytes(data), bytes(key), std::nullopt})[2]), want) << n;
  }
}

TEST(examples, block_sums_add_256_each) {
  const Module m = load("block_sums.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    std::vector<uint32_t> want((n + 255) / 256);
    for (size_t i = 0; i < n; ++i) want[i / 256] += x[i];
    EXPECT_EQ(elements<uint32_t>(run(m, {bytes(x), std::nullopt})[1]), want) << n;
  }
}

TEST(examples, prefix_scan_crosses_blocks) {
  const Module m = load("prefix_scan.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    std::vector<uint32_t> want(n);
    std::partial_sum(x.begin(), x.end(), want.begin());
    EXPECT_EQ(elements<uint32_t>(run(m, {bytes(x), std::nullopt})[1]), want) << n;
  }
}

TEST(examples, histogram_counts_every_byte) {
  const Module m = load("histogram.vyre");
  for (size_t n : sizes) {
    std::vector<uint8_t> data(n);
    std::vector<uint32_t> want(256);
    const auto x = numbers(n);
    for (size_t i = 0; i < n; ++i) ++want[data[i] = uint8_t(x[i] >> 24)];
    EXPECT_EQ(elements<uint32_t>(run(m, {bytes(data), std::nullopt})[1]), want) << n;
  }
}

TEST(examples, bitonic_sort_sorts_each_block) {
  const Module m = load("bitonic_sort.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    auto want = x;
    for (size_t i = 0; i < n; i += 256)
      std::sort(want.begin() + long(i), want.begin() + long(std::min(n, i + 256)));
    EXPECT_EQ(elements<uint32_t>(run(m, {bytes(x), std::nullopt})[1]), want) << n;
  }
}

}  // namespace
}  // namespace vyre::examples
