// Stream compaction, float sum and matmul against plain C++.

#include <cmath>

#include "tests/examples/examples_util.h"

namespace vyre::examples {
namespace {

/// Compares floats by their bits, so that -0.0 is not 0.0.
std::vector<uint32_t> bits(const std::vector<float>& v) { return elements<uint32_t>(bytes(v)); }

TEST(examples, stream_compaction_keeps_the_order) {
  const Module m = load("stream_compaction.vyre");
  for (const uint32_t limit : {0u, 1u << 28, 1u << 31, ~0u}) {
    for (const size_t n : sizes) {
      const auto x = numbers(n);
      std::vector<uint32_t> want;
      for (const uint32_t v : x)
        if (v < limit) want.push_back(v);
      const auto count = uint32_t(want.size());
      want.resize(n);
      const Buffers b = run(m, {scalar(limit), bytes(x), std::nullopt, std::nullopt});
      EXPECT_EQ(elements<uint32_t>(b[2]), want) << limit << " of " << n;
      EXPECT_EQ(elements<uint32_t>(b[3]), std::vector{count}) << limit << " of " << n;
    }
  }
}

/// The tree of float_sum.vyre over one block.
float tree(std::vector<float> t) {
  for (size_t d = 128; d > 0; d /= 2)
    for (size_t l = 0; l < d; ++l) t[l] += t[l + d];
  return t[0];
}

float sum_in_the_order_of_the_example(const std::vector<float>& x) {
  if (x.empty()) return 0.0f;
  std::vector<float> lanes(256, -0.0f);
  for (size_t first = 0; first < x.size(); first += 256) {
    std::vector<float> block(256, -0.0f);
    for (size_t l = 0; l < 256 && first + l < x.size(); ++l) block[l] = x[first + l];
    lanes[first / 256 % 256] += tree(block);
  }
  return tree(lanes);
}

TEST(examples, float_sum_has_one_order) {
  const Module m = load("float_sum.vyre");
  for (const size_t n : {0, 1, 2, 255, 256, 257, 1000, 65535, 65536, 65537, 200000}) {
    for (const auto& x : {floats(n), std::vector<float>(n, 0.1f), std::vector<float>(n, -0.0f)}) {
      const std::vector<float> want = {sum_in_the_order_of_the_example(x)};
      EXPECT_EQ(bits(elements<float>(run(m, {bytes(x), std::nullopt})[1])), bits(want)) << n;
    }
  }
}

TEST(examples, float_sum_is_not_the_sum_from_left_to_right) {
  const auto x = floats(1000);
  float left_to_right = 0;
  for (const float v : x) left_to_right += v;
  EXPECT_NE(left_to_right, sum_in_the_order_of_the_example(x)) << "the data tell no orders apart";
}

struct MatmulSize {
  uint32_t m, k, n;
};

/// Some products underflow to -0.0: a sum must not end with an added 0.0.
std::vector<float> matrix(size_t count, uint32_t seed) {
  auto v = floats(count, seed);
  for (size_t i = 0; i < count; i += 3) v[i] *= 1e-25f;
  return v;
}

std::vector<float> multiply(const MatmulSize& s, const std::vector<float>& a,
                            const std::vector<float>& b) {
  std::vector<float> c(size_t(s.m) * s.n);
  for (size_t r = 0; r < s.m; ++r)
    for (size_t q = 0; q < s.n; ++q)
      for (size_t i = 0; i < s.k; ++i)
        c[r * s.n + q] = std::fma(a[r * s.k + i], b[i * s.n + q], c[r * s.n + q]);
  return c;
}

TEST(examples, matmul_adds_from_first_to_last_with_any_tile) {
  const MatmulSize shapes[] = {{0, 0, 0},    {1, 1, 1},    {1, 0, 2},    {0, 3, 2},
                               {3, 2, 0},    {15, 15, 15}, {16, 16, 16}, {17, 17, 17},
                               {15, 17, 16}, {17, 1, 33},  {1, 100, 1},  {70, 45, 97}};
  for (const char* tile : {"16", "1", "5"}) {
    const Module program = load("matmul.vyre", {{"TILE", tile}});
    for (const MatmulSize& s : shapes) {
      const auto a = matrix(size_t(s.m) * s.k, 1), b = matrix(size_t(s.k) * s.n, 2);
      const Buffers r =
          run(program, {scalar(s.m), scalar(s.n), scalar(s.k), bytes(a), bytes(b), std::nullopt});
      EXPECT_EQ(bits(elements<float>(r[5])), bits(multiply(s, a, b)))
          << s.m << " " << s.k << " " << s.n << ", tile " << tile;
    }
  }
}

TEST(examples, matmul_keeps_a_negative_zero) {
  const std::vector<float> want = {-0.0f};
  const Buffers r = run(load("matmul.vyre"), {scalar(1u), scalar(1u), scalar(1u), scalar(1e-30f),
                                              scalar(-1e-30f), std::nullopt});
  EXPECT_EQ(bits(elements<float>(r[5])), bits(want));
}

}  // namespace
}  // namespace vyre::examples
