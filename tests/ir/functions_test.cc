// The transcendental functions of ir/functions.h on plain values: the special values of C's
// Annex F, listed by hand, and the error against double precision on a sparse but even sample
// of all f32. bench/function_accuracy.cc measures all of them.
#include "ir/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/functions_native.h"

namespace vyre {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();  // 2^-149
constexpr float kPi = 0x1.921fb6p+1f;

using Unary = float (*)(float);
using Binary = float (*)(float, float);

functions::NativeAlgebra algebra;

float our_exp(float x) { return functions::exp(algebra, x); }
float our_exp2(float x) { return functions::exp2(algebra, x); }
float our_log(float x) { return functions::log(algebra, x); }
float our_log2(float x) { return functions::log2(algebra, x); }
float our_sin(float x) { return functions::sin(algebra, x); }
float our_cos(float x) { return functions::cos(algebra, x); }
float our_tan(float x) { return functions::tan(algebra, x); }
float our_tanh(float x) { return functions::tanh(algebra, x); }
float our_pow(float x, float y) { return functions::pow(algebra, x, y); }
float our_atan2(float y, float x) { return functions::atan2(algebra, y, x); }

// Returns the reciprocal of the spacing of f32 at a magnitude, computed from bits for speed.
double per_ulp(double exact) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7ff) - 1023;
  const int ulp = std::clamp(exponent - 23, -149, 104);
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - ulp) << 52);
}

// Infinity counts as 2^128. A wrong sign, or NaN on one side only, is infinitely far off.
double error_in_ulp(float result, double exact) {
  if (std::isnan(result) || std::isnan(exact)) {
    return std::isnan(result) && std::isnan(exact) ? 0.0 : HUGE_VAL;
  }
  if (std::signbit(result) != std::signbit(exact)) return HUGE_VAL;
  const double number = std::clamp(exact, -0x1p128, 0x1p128);
  const double ours = std::clamp(static_cast<double>(result), -0x1p128, 0x1p128);
  return std::abs(ours - number) * per_ulp(number);
}

// Equal in every bit, any NaN being as good as any other.
bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

struct UnaryCase {
  float x, result;
};

void expect_exactly(Unary function, const std::vector<UnaryCase>& cases) {
  for (const UnaryCase& c : cases) {
    const float result = function(c.x);
    EXPECT_TRUE(same(result, c.result)) << "f(" << c.x << ") = " << result << ", not " << c.result;
  }
}

struct BinaryCase {
  float first, second, result;
};

void expect_exactly(Binary function, const std::vector<BinaryCase>& cases) {
  for (const BinaryCase& c : cases) {
    const float result = function(c.first, c.second);
    EXPECT_TRUE(same(result, c.result))
        << "f(" << c.first << ", " << c.second << ") = " << result << ", not " << c.result;
  }
}

// One f32 in `stride`, over all bit patterns.
void expect_within_2_ulp(Unary function, double (*reference)(double), std::uint32_t stride = 4099) {
  double worst = 0;
  float worst_x = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double error = error_in_ulp(function(x), reference(x));
    if (error > worst) {
      worst = error;
      worst_x = x;
    }
  }
  EXPECT_LE(worst, 2.0) << "at " << std::hexfloat << worst_x;
}

TEST(NativeAlgebra, FollowsTheLaw) {
  const functions::NativeAlgebra& a = algebra;
  EXPECT_TRUE(same(a.min(kNan, 1.0f), 1.0f));
  EXPECT_TRUE(same(a.min(1.0f, kNan), 1.0f));
  EXPECT_TRUE(same(a.max(kNan, 1.0f), 1.0f));
  EXPECT_TRUE(same(a.max(1.0f, kNan), 1.0f));
  EXPECT_TRUE(same(a.max(kNan, kNan), kNan));
  EXPECT_TRUE(same(a.min(0.0f, -0.0f), -0.0f));
  EXPECT_TRUE(same(a.min(-0.0f, 0.0f), -0.0f));
  EXPECT_TRUE(same(a.max(0.0f, -0.0f), 0.0f));
  EXPECT_TRUE(same(a.max(-0.0f, 0.0f), 0.0f));
  EXPECT_EQ(a.min(-2.0f, 3.0f), -2.0f);
  EXPECT_EQ(a.max(-2.0f, 3.0f), 3.0f);
  EXPECT_EQ(a.round(2.5f), 2.0f);
  EXPECT_EQ(a.round(-3.5f), -4.0f);
  EXPECT_EQ(a.fma(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f), 0x1p-46f);
  EXPECT_EQ(a.add(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(a.mul(INT32_MAX, 2), -2);
  EXPECT_EQ(a.mulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(a.shl(1u, 33u), 2u);
  EXPECT_EQ(a.shr(4u, 32u), 4u);
  EXPECT_EQ(a.shr(-4, 33), -2);
  EXPECT_EQ(a.i_from_f(kNan), 0);
  EXPECT_EQ(a.i_from_f(-2.9f), -2);
  EXPECT_EQ(a.i_from_f(0x1p31f), INT32_MAX);
  EXPECT_EQ(a.i_from_f(kInf), INT32_MAX);
  EXPECT_EQ(a.i_from_f(-0x1p31f), INT32_MIN);
  EXPECT_EQ(a.i_from_f(-kInf), INT32_MIN);
}

TEST(Functions, ExpSpecialValues) {
  expect_exactly(our_exp, {{0.0f, 1.0f},
                           {-0.0f, 1.0f},
                           {-kInf, 0.0f},
                           {kInf, kInf},
                           {kNan, kNan},
                           {kTiny, 1.0f},
                           {-kTiny, 1.0f},
                           {89.0f, kInf},
                           {kMax, kInf},
                           {-105.0f, 0.0f},
                           {-kMax, 0.0f}});
  // The last finite result, the last normal one, subnormal ones.
  for (float x : {0x1.62e42ep+6f, -0x1.5d589ep+6f, -88.0f, -100.0f, -103.9f}) {
    EXPECT_LE(error_in_ulp(our_exp(x), std::exp(static_cast<double>(x))), 2.0) << x;
  }
}

TEST(Functions, Exp2SpecialValues) {
  expect_exactly(our_exp2, {{0.0f, 1.0f},
                            {-0.0f, 1.0f},
                            {-kInf, 0.0f},
                            {kInf, kInf},
                            {kNan, kNan},
                            {kTiny, 1.0f},
                            {128.0f, kInf},
                            {kMax, kInf},
                            {-151.0f, 0.0f},
                            {-kMax, 0.0f}});
  // Powers of two are exact, subnormal ones too.
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(our_exp2(static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
  }
}

TEST(Functions, LogSpecialValues) {
  expect_exactly(our_log, {{0.0f, -kInf},
                           {-0.0f, -kInf},
                           {1.0f, 0.0f},
                           {kInf, kInf},
                           {-kTiny, kNan},
                           {-1.0f, kNan},
                           {-kMax, kNan},
                           {-kInf, kNan},
                           {kNan, kNan}});
  for (float x :
       {kTiny, 0x1.8p-140f, 0x1.fffffcp-127f, 0x1p-126f, 0x1.fffffep-1f, 0x1.000002p0f, kMax}) {
    EXPECT_LE(error_in_ulp(our_log(x), std::log(static_cast<double>(x))), 2.0) << x;
  }
}

TEST(Functions, Log2SpecialValues) {
  expect_exactly(our_log2, {{0.0f, -kInf},
                            {-0.0f, -kInf},
                            {1.0f, 0.0f},
                            {kInf, kInf},
                            {-kTiny, kNan},
                            {-1.0f, kNan},
                            {-kMax, kNan},
                            {-kInf, kNan},
                            {kNan, kNan}});
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(our_log2(std::ldexp(1.0f, n)), static_cast<float>(n));
  }
}

TEST(Functions, SinCosTanSpecialValues) {
  expect_exactly(our_sin, {{0.0f, 0.0f},
                           {-0.0f, -0.0f},
                           {kTiny, kTiny},
                           {-kTiny, -kTiny},
                           {0x1p-126f, 0x1p-126f},
                           {kInf, kNan},
                           {-kInf, kNan},
                           {kNan, kNan}});
  expect_exactly(our_cos, {{0.0f, 1.0f},
                           {-0.0f, 1.0f},
                           {kTiny, 1.0f},
                           {-0x1p-126f, 1.0f},
                           {kInf, kNan},
                           {-kInf, kNan},
                           {kNan, kNan}});
  expect_exactly(our_tan, {{0.0f, 0.0f},
                           {-0.0f, -0.0f},
                           {kTiny, kTiny},
                           {-kTiny, -kTiny},
                           {0x1p-126f, 0x1p-126f},
                           {kInf, kNan},
                           {-kInf, kNan},
                           {kNan, kNan}});
}

// The angles nearest to a multiple of pi/2 of all f32, nearest first, and the ends of the
// reduction's cases.
TEST(Functions, SinCosTanOfHardAngles) {
  for (float magnitude :
       {0x1.f37c8ap+95f, 0x1.47d0fep+34f, 0x1.f9cbe2p+7f, 0x1.628d4cp+40f, 0x1.32ede2p+85f,
        0x1.fffffep-1f, 1.0f, 0x1.921fb6p-1f, 0x1.921fb4p0f, 0x1.921fb6p0f, kPi, 0x1.fffffep+31f,
        0x1p32f, 0x1.fffffep+63f, 0x1p64f, 0x1p95f, 0x1p96f, 0x1p127f, kMax}) {
    for (float x : {magnitude, -magnitude}) {
      const double exact = x;
      EXPECT_LE(error_in_ulp(our_sin(x), std::sin(exact)), 2.0) << x;
      EXPECT_LE(error_in_ulp(our_cos(x), std::cos(exact)), 2.0) << x;
      EXPECT_LE(error_in_ulp(our_tan(x), std::tan(exact)), 2.0) << x;
    }
  }
}

TEST(Functions, TanhSpecialValues) {
  expect_exactly(our_tanh, {{0.0f, 0.0f},
                            {-0.0f, -0.0f},
                            {kTiny, kTiny},
                            {-kTiny, -kTiny},
                            {0x1p-126f, 0x1p-126f},
                            {20.0f, 1.0f},
                            {-kMax, -1.0f},
                            {kInf, 1.0f},
                            {-kInf, -1.0f},
                            {kNan, kNan}});
}

TEST(Functions, PowSpecialValues) {
  const std::vector<float> all = {0.0f, kTiny,   0.5f, 1.0f, 1.5f, 2.0f,
                                  3.0f, 0x1p24f, kMax, kInf, kNan};
  for (float magnitude : all) {
    for (float v : {magnitude, -magnitude}) {
      expect_exactly(our_pow, {{v, 0.0f, 1.0f}, {v, -0.0f, 1.0f}, {1.0f, v, 1.0f}});
    }
  }
  expect_exactly(our_pow, {
                              // NaN otherwise.
                              {kNan, 1.0f, kNan},
                              {kNan, kInf, kNan},
                              {kNan, -2.0f, kNan},
                              {2.0f, kNan, kNan},
                              {-1.0f, kNan, kNan},
                              {0.0f, kNan, kNan},
                              {kInf, kNan, kNan},
                              {-kInf, kNan, kNan},
                              {kNan, kNan, kNan},
                              // pow(+-0, y) for y an odd integer < 0.
                              {0.0f, -1.0f, kInf},
                              {-0.0f, -1.0f, -kInf},
                              {0.0f, -3.0f, kInf},
                              {-0.0f, -3.0f, -kInf},
                              {-0.0f, -0x1.fffffep+23f, -kInf},
                              // pow(+-0, y) for other y < 0.
                              {0.0f, -2.0f, kInf},
                              {-0.0f, -2.0f, kInf},
                              {0.0f, -0.5f, kInf},
                              {-0.0f, -0.5f, kInf},
                              {-0.0f, -kTiny, kInf},
                              {-0.0f, -0x1p24f, kInf},
                              {0.0f, -kInf, kInf},
                              {-0.0f, -kInf, kInf},
                              // pow(+-0, y) for y > 0.
                              {0.0f, 3.0f, 0.0f},
                              {-0.0f, 3.0f, -0.0f},
                              {-0.0f, 1.0f, -0.0f},
                              {0.0f, 2.0f, 0.0f},
                              {-0.0f, 2.0f, 0.0f},
                              {-0.0f, 0.5f, 0.0f},
                              {-0.0f, kTiny, 0.0f},
                              {-0.0f, kInf, 0.0f},
                              {0.0f, kInf, 0.0f},
                              // pow(-1, +-inf).
                              {-1.0f, kInf, 1.0f},
                              {-1.0f, -kInf, 1.0f},
                              // A finite negative base and a finite power that is not an integer.
                              {-1.0f, 0.5f, kNan},
                              {-2.0f, 1.5f, kNan},
                              {-kTiny, -0.1f, kNan},
                              {-kMax, 0x1.fffffep+22f, kNan},
                              {-8.0f, 1.0f / 3, kNan},
                              {-1.0f, kTiny, kNan},
                              // pow(x, +-inf).
                              {0.5f, -kInf, kInf},
                              {-0.5f, -kInf, kInf},
                              {0x1.fffffep-1f, -kInf, kInf},
                              {1.5f, -kInf, 0.0f},
                              {-1.5f, -kInf, 0.0f},
                              {0.5f, kInf, 0.0f},
                              {-0x1.fffffep-1f, kInf, 0.0f},
                              {kTiny, kInf, 0.0f},
                              {1.5f, kInf, kInf},
                              {-1.5f, kInf, kInf},
                              {0x1.000002p0f, kInf, kInf},
                              {kInf, kInf, kInf},
                              {kInf, -kInf, 0.0f},
                              {-kInf, kInf, kInf},
                              {-kInf, -kInf, 0.0f},
                              // pow(-inf, y).
                              {-kInf, -3.0f, -0.0f},
                              {-kInf, -1.0f, -0.0f},
                              {-kInf, -2.0f, 0.0f},
                              {-kInf, -0.5f, 0.0f},
                              {-kInf, -kTiny, 0.0f},
                              {-kInf, 3.0f, -kInf},
                              {-kInf, 1.0f, -kInf},
                              {-kInf, 2.0f, kInf},
                              {-kInf, 0.5f, kInf},
                              {-kInf, kTiny, kInf},
                              // pow(+inf, y).
                              {kInf, -1.0f, 0.0f},
                              {kInf, -kTiny, 0.0f},
                              {kInf, 1.0f, kInf},
                              {kInf, kTiny, kInf},
                              // Signs by parity; overflow and underflow with a sign.
                              {-1.0f, 3.0f, -1.0f},
                              {-1.0f, 2.0f, 1.0f},
                              {-1.0f, 0x1.fffffep+23f, -1.0f},
                              {-1.0f, 0x1p24f, 1.0f},
                              {-1.0f, -kMax, 1.0f},
                              {-2.0f, 128.0f, kInf},
                              {-2.0f, 129.0f, -kInf},
                              {-2.0f, -151.0f, -0.0f},
                              {-2.0f, -152.0f, 0.0f},
                              {kMax, kMax, kInf},
                              {kMax, -kMax, 0.0f},
                              {kTiny, kMax, 0.0f},
                              {kTiny, -kMax, kInf},
                              {0x1.fffffep-1f, kMax, 0.0f},
                              {0x1.000002p0f, -kMax, 0.0f},
                              // Powers of two, subnormal as base and as result.
                              {2.0f, 10.0f, 1024.0f},
                              {2.0f, -149.0f, kTiny},
                              {-2.0f, -149.0f, -kTiny},
                              {0.5f, 140.0f, 0x1p-140f},
                              {kTiny, -0.5f, 0x1.6a09e6p+74f},
                              {0x1p-148f, 0.5f, 0x1p-74f},
                              {0x1p-148f, 0.25f, 0x1p-37f},
                              {4.0f, 0.5f, 2.0f},
                          });
}

TEST(Functions, Atan2SpecialValues) {
  expect_exactly(our_atan2, {
                                {0.0f, -0.0f, kPi},
                                {-0.0f, -0.0f, -kPi},
                                {0.0f, 0.0f, 0.0f},
                                {-0.0f, 0.0f, -0.0f},
                                {0.0f, -kTiny, kPi},
                                {-0.0f, -kTiny, -kPi},
                                {0.0f, -kMax, kPi},
                                {-0.0f, -kInf, -kPi},
                                {0.0f, kTiny, 0.0f},
                                {-0.0f, kTiny, -0.0f},
                                {0.0f, kInf, 0.0f},
                                {-0.0f, kInf, -0.0f},
                                {-kTiny, 0.0f, -kPi / 2},
                                {-kTiny, -0.0f, -kPi / 2},
                                {kTiny, 0.0f, kPi / 2},
                                {kTiny, -0.0f, kPi / 2},
                                {kMax, 0.0f, kPi / 2},
                                {1.0f, -kInf, kPi},
                                {-1.0f, -kInf, -kPi},
                                {kMax, -kInf, kPi},
                                {1.0f, kInf, 0.0f},
                                {-1.0f, kInf, -0.0f},
                                {kMax, kInf, 0.0f},
                                {kInf, 1.0f, kPi / 2},
                                {kInf, -1.0f, kPi / 2},
                                {-kInf, kMax, -kPi / 2},
                                {-kInf, -0.0f, -kPi / 2},
                                {kInf, kInf, kPi / 4},
                                {-kInf, kInf, -kPi / 4},
                                {kInf, -kInf, 0x1.2d97c8p+1f},
                                {-kInf, -kInf, -0x1.2d97c8p+1f},
                                {1.0f, 1.0f, kPi / 4},
                                {kTiny, kTiny, kPi / 4},
                                {-kMax, -kMax, -0x1.2d97c8p+1f},
                                {kTiny, 1.0f, kTiny},
                                {-kTiny, 2.0f, -0.0f},
                                {0x1p-100f, 0x1p40f, 0x1p-140f},
                                {kTiny, kMax, 0.0f},
                                {kTiny, -kMax, kPi},
                                {kMax, kTiny, kPi / 2},
                                {kNan, 1.0f, kNan},
                                {1.0f, kNan, kNan},
                                {kNan, kInf, kNan},
                                {kInf, kNan, kNan},
                                {kNan, 0.0f, kNan},
                                {0.0f, kNan, kNan},
                                {kNan, kNan, kNan},
                            });
}

TEST(Functions, ExpAccuracy) { expect_within_2_ulp(our_exp, std::exp); }
TEST(Functions, Exp2Accuracy) { expect_within_2_ulp(our_exp2, std::exp2); }
TEST(Functions, LogAccuracy) { expect_within_2_ulp(our_log, std::log); }
TEST(Functions, Log2Accuracy) { expect_within_2_ulp(our_log2, std::log2); }
TEST(Functions, SinAccuracy) { expect_within_2_ulp(our_sin, std::sin); }
TEST(Functions, CosAccuracy) { expect_within_2_ulp(our_cos, std::cos); }
TEST(Functions, TanAccuracy) { expect_within_2_ulp(our_tan, std::tan); }
TEST(Functions, TanhAccuracy) { expect_within_2_ulp(our_tanh, std::tanh); }

// Bases over all f32, powers that spread the results over the whole range.
TEST(Functions, PowAccuracy) {
  double worst = 0;
  float worst_x = 0, worst_y = 0;
  std::uint32_t step = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 16411) {
    float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (bits % 3 == 0)
      x = std::bit_cast<float>(0x3f000000u + static_cast<std::uint32_t>(bits) % 0x1000000u);
    const double target = -153.0 + 283.0 * (step++ * 0x9e3779b9u) * 0x1p-32;
    float y = static_cast<float>(target / std::log2(std::abs(static_cast<double>(x))));
    if (x < 0) y = std::nearbyint(y);
    const double error =
        error_in_ulp(our_pow(x, y), std::pow(static_cast<double>(x), static_cast<double>(y)));
    if (error > worst) {
      worst = error;
      worst_x = x;
      worst_y = y;
    }
  }
  EXPECT_LE(worst, 2.0) << "at " << std::hexfloat << worst_x << ", " << worst_y;
}

// One coordinate over all f32, the other at all ratios to it.
TEST(Functions, Atan2Accuracy) {
  double worst = 0;
  float worst_y = 0, worst_x = 0;
  std::uint32_t step = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 16411) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double spread = static_cast<std::int32_t>(step++ * 0x9e3779b9u) * 0x1p-31;
    const float y = static_cast<float>(x * std::copysign(std::exp2(30 * spread), (step & 4) - 2.0));
    const double error =
        error_in_ulp(our_atan2(y, x), std::atan2(static_cast<double>(y), static_cast<double>(x)));
    if (error > worst) {
      worst = error;
      worst_y = y;
      worst_x = x;
    }
  }
  EXPECT_LE(worst, 2.0) << "at " << std::hexfloat << worst_y << ", " << worst_x;
}

}  // namespace
}  // namespace vyre
