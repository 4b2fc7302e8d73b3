// The examples against plain C++ on sizes around a block, with data too long for their comments.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "check/check.h"
#include "interp/interp.h"
#include "support/file.h"
#include "text/parse.h"

namespace vyre {
namespace {

Module load(const std::string& name) {
  ParseOptions options;
  options.file_name = std::string(VYRE_SOURCE_DIR) + "/examples/" + name;
  options.resolver = file_resolver();
  ParseOutcome r = parse(read_file(options.file_name).bytes, options);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  const Diagnostics d = check(*r.module);
  EXPECT_FALSE(has_errors(d)) << render(d, r.sources);
  return std::move(*r.module);
}

template <class T>
std::vector<std::byte> bytes(const std::vector<T>& v) {
  std::vector<std::byte> b(v.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), v.data(), b.size());
  return b;
}

template <class T>
std::vector<T> elements(const std::vector<std::byte>& b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!v.empty()) std::memcpy(v.data(), b.data(), b.size());
  return v;
}

/// Runs the only kernel; `inputs` by parameter, none for outputs.
std::vector<std::vector<std::byte>> run_kernel(const Module& m, std::vector<std::optional<std::vector<std::byte>>> inputs) {
  LaunchInputs in;
  in.data = std::move(inputs);
  const auto r = interp::run(m.kernels[0], in);
  EXPECT_TRUE(r) << render(r.errors(), {});
  return r ? r->buffers : std::vector<std::vector<std::byte>>(m.kernels[0].buffers.size());
}

std::vector<uint32_t> numbers(size_t n) {
  std::vector<uint32_t> v(n);
  uint32_t x = 12345;
  for (uint32_t& e : v) e = x = x * 1664525u + 1013904223u;
  return v;
}

const size_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 70000};

TEST(examples, saxpy_is_one_fma_an_element) {
  const Module m = load("saxpy.vyre");
  for (size_t n : sizes) {
    std::vector<float> x(n), y(n), want(n);
    for (size_t i = 0; i < n; ++i) x[i] = float(i) * 0.37f, y[i] = 1.0f / float(i + 1), want[i] = std::fma(1.7f, x[i], y[i]);
    EXPECT_EQ(elements<float>(run_kernel(m, {bytes(std::vector<float>{1.7f}), bytes(x), bytes(y)})[2]), want) << n;
  }
}

TEST(examples, xor_repeats_its_key) {
  const Module m = load("xor.vyre");
  for (size_t n : sizes) {
    std::vector<uint8_t> data(n), key = {1, 2, 250}, want(n);
    for (size_t i = 0; i < n; ++i) data[i] = uint8_t(i * 7), want[i] = uint8_t(data[i] ^ key[i % 3]);
    EXPECT_EQ(elements<uint8_t>(run_kernel(m, {bytes(data), bytes(key), std::nullopt})[2]), want) << n;
  }
}

TEST(examples, block_sums_add_256_each) {
  const Module m = load("block_sums.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    std::vector<uint32_t> want((n + 255) / 256);
    for (size_t i = 0; i < n; ++i) want[i / 256] += x[i];
    EXPECT_EQ(elements<uint32_t>(run_kernel(m, {bytes(x), std::nullopt})[1]), want) << n;
  }
}

TEST(examples, prefix_scan_crosses_blocks) {
  const Module m = load("prefix_scan.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    std::vector<uint32_t> want(n);
    std::partial_sum(x.begin(), x.end(), want.begin());
    interp::GraphInputs in;
    in.data = {bytes(x), std::nullopt};
    const auto r = interp::run(m, m.graphs[0], in);
    ASSERT_TRUE(r) << render(r.errors(), {});
    EXPECT_EQ(elements<uint32_t>(r->buffers[1]), want) << n;
  }
}

TEST(examples, histogram_counts_every_byte) {
  const Module m = load("histogram.vyre");
  for (size_t n : sizes) {
    std::vector<uint8_t> data(n);
    std::vector<uint32_t> want(256);
    const auto x = numbers(n);
    for (size_t i = 0; i < n; ++i) ++want[data[i] = uint8_t(x[i] >> 24)];
    EXPECT_EQ(elements<uint32_t>(run_kernel(m, {bytes(data), std::nullopt})[1]), want) << n;
  }
}

TEST(examples, bitonic_sort_sorts_each_block) {
  const Module m = load("bitonic_sort.vyre");
  for (size_t n : sizes) {
    const auto x = numbers(n);
    auto want = x;
    for (size_t i = 0; i < n; i += 256) std::sort(want.begin() + long(i), want.begin() + long(std::min(n, i + 256)));
    EXPECT_EQ(elements<uint32_t>(run_kernel(m, {bytes(x), std::nullopt})[1]), want) << n;
  }
}

}  // namespace
}  // namespace vyre
