// Numbers as scalars: types of C++ numbers, and conversions that keep the number.

#include "ir/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vyre {
namespace {

template <class T>
using Limits = std::numeric_limits<T>;

/// `from` is a `to` of the same value.
template <class From, class To>
void expect_kept(From from, To to) {
  EXPECT_EQ(convert_exactly(scalar(from), type_of<To>()), scalar(to).bits)
      << to_string(scalar(from)) << " as " << name(type_of<To>());
}
/// No `To` has the value.
template <class To, class From>
void expect_refused(From from) {
  EXPECT_EQ(convert_exactly(scalar(from), type_of<To>()), std::nullopt)
      << to_string(scalar(from)) << " as " << name(type_of<To>());
}

TEST(scalar, every_host_number_has_a_type) {
  EXPECT_EQ(scalar(true).type, Type::Bool);
  EXPECT_EQ(scalar(int8_t{-1}), (Scalar{Type::I8, 0xff}));
  EXPECT_EQ(scalar(uint16_t{7}), (Scalar{Type::U16, 7}));
  EXPECT_EQ(scalar(-1), (Scalar{Type::I32, 0xffffffff}));
  EXPECT_EQ(scalar(1u).type, Type::U32);
  EXPECT_EQ(scalar(int64_t{-1}), (Scalar{Type::I64, ~0ull}));
  EXPECT_EQ(scalar(1l).type, Type::I64);
  EXPECT_EQ(scalar(1ll).type, Type::I64);
  EXPECT_EQ(scalar(1ul).type, Type::U64);
  EXPECT_EQ(scalar(1ull).type, Type::U64);
  EXPECT_EQ(scalar(1.0f), (Scalar{Type::F32, 0x3f800000}));
  EXPECT_EQ(scalar(1.0), (Scalar{Type::F64, 0x3ff0000000000000}));
}

TEST(scalar, conversions_keep_the_number_or_fail) {
  expect_kept(2.0, 2.0f);
  expect_kept(2, 2.0f);
  expect_kept(int64_t{5}, 5u);
  expect_kept(5.0, uint8_t{5});
  expect_kept(-5.0f, int64_t{-5});
  expect_kept(1, true);
  expect_kept(false, 0.0);
  expect_kept(0.1f, double(0.1f));
  expect_kept(Limits<double>::infinity(), Limits<float>::infinity());
  expect_kept(-0.0, -0.0f);
  expect_kept(uint64_t{1} << 63, 9223372036854775808.0);
  expect_kept(9223372036854775808.0, uint64_t{1} << 63);
  expect_kept(-9223372036854775808.0, Limits<int64_t>::min());

  expect_refused<float>(0.1);
  expect_refused<float>(1e300);
  expect_refused<float>(16777217);
  expect_refused<double>(Limits<int64_t>::max());
  expect_refused<double>(Limits<uint64_t>::max());
  expect_refused<uint32_t>(-1);
  expect_refused<int32_t>(0xffffffffu);
  expect_refused<int8_t>(128);
  expect_refused<uint8_t>(256);
  expect_refused<int32_t>(1.5);
  expect_refused<int32_t>(-0.0);
  expect_refused<int64_t>(9223372036854775808.0);
  expect_refused<uint64_t>(18446744073709551616.0);
  expect_refused<uint32_t>(std::nan(""));
  expect_refused<int64_t>(Limits<float>::infinity());
  expect_refused<bool>(2);
  EXPECT_EQ(convert_exactly({}, Type::U32), std::nullopt);
  EXPECT_EQ(convert_exactly(scalar(1u), Type::F16), std::nullopt);
}

TEST(scalar, nan_stays_nan_in_every_float_type) {
  const auto narrow = convert_exactly(scalar(std::nan("")), Type::F32);
  ASSERT_TRUE(narrow);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(uint32_t(*narrow))));
}

TEST(scalar, bits_beyond_the_type_are_ignored) {
  EXPECT_EQ(convert_exactly({Type::U8, 0x105}, Type::U8), 5u);
  EXPECT_EQ(convert_exactly({Type::U8, 0x105}, Type::U32), 5u);
  EXPECT_EQ(convert_exactly({Type::Bool, 0x10}, Type::Bool), 1u);
}

TEST(scalar, messages_show_the_number_and_its_type) {
  EXPECT_EQ(to_string(scalar(2.5)), "2.5 (f64)");
  EXPECT_EQ(to_string(scalar(0.1f)), "0.1 (f32)");
  EXPECT_EQ(to_string(scalar(-3)), "-3 (i32)");
  EXPECT_EQ(to_string(scalar(~0ull)), "18446744073709551615 (u64)");
  EXPECT_EQ(to_string(scalar(true)), "true (bool)");
}

}  // namespace
}  // namespace vyre
