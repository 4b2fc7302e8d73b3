// The pieces that read flags, from inside.

#include <gtest/gtest.h>

#include "tools/vyre/command_line.h"
#include "tools/vyre/element_text.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {
namespace {

TEST(Flags, counts_and_sizes) {
  EXPECT_EQ(parse_count("1_000"), 1000u);
  EXPECT_EQ(parse_count("0x10"), 16u);
  EXPECT_EQ(parse_bytes("64K"), 65536u);
  EXPECT_EQ(parse_bytes("2g"), uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("12"), 12u);
  for (const char* four : {"4G", "4g", "4GB", "4gb", "4GiB", "4gib"})
    EXPECT_EQ(parse_bytes(four), uint64_t{4} << 30) << four;
  for (const char* bad : {"4iB", "4B", "GB", "4GBB", "B", "4KGB", ""})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  EXPECT_EQ(parse_decimal_count("1e6"), 1000000u);
  EXPECT_EQ(parse_decimal_count("25E1"), 250u);
  EXPECT_EQ(parse_decimal_count("0xe1"), 0xe1u);
  for (const char* bad : {"1e", "e6", "1e-1", "1.5e3", "1e20", "1e+2", "99e19"})
    EXPECT_FALSE(parse_decimal_count(bad)) << bad;
  for (const char* bad : {"", "-1", "1.5", "x", "K", "_", "99999999999999999999"})
    EXPECT_FALSE(parse_count(bad)) << bad;
  EXPECT_FALSE(parse_bytes("18446744073709551615K"));
}

TEST(Flags, seconds_are_positive_and_finite) {
  EXPECT_EQ(parse_seconds("0.5"), 0.5);
  for (const char* bad : {"", "0", "-1", "inf", "nan", "1s"})
    EXPECT_FALSE(parse_seconds(bad)) << bad;
}

TEST(Flags, grids_have_up_to_three_dimensions) {
  EXPECT_EQ(parse_grid("7"), (std::array<uint64_t, 3>{7, 1, 1}));
  EXPECT_EQ(parse_grid("7,0,2"), (std::array<uint64_t, 3>{7, 0, 2}));
  for (const char* bad : {"", "1,", ",1", "1,2,3,4", "a"}) EXPECT_FALSE(parse_grid(bad)) << bad;
}

TEST(Flags, schedules) {
  EXPECT_EQ(parse_schedule("reverse")->schedule, interp::Schedule::Reverse);
  EXPECT_EQ(parse_schedule("random:42")->seed, 42u);
  for (const char* bad : {"", "random", "random:", "Order"})
    EXPECT_FALSE(parse_schedule(bad)) << bad;
}

TEST(Flags, lists_of_values_are_read_by_their_type) {
  const auto bytes = parse_elements(" 1, -2 ,0x7f", "x", Type::I8);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, (Bytes{std::byte{1}, std::byte{0xfe}, std::byte{0x7f}}));
  EXPECT_EQ(print_elements(Type::I8, *bytes, 2), "1 -2");
  EXPECT_TRUE(parse_elements("", "x", Type::F32)->empty());
  for (const char* bad : {"256", "-1", "1.5", "1,", ",", "1 2", "true"})
    EXPECT_FALSE(parse_elements(bad, "x", Type::U8)) << bad;
}

TEST(Flags, random_floats_are_in_the_unit_interval_for_every_type) {
  for (const Type t : {Type::F16, Type::BF16, Type::F32, Type::F64}) {
    const Bytes bytes = random_elements(t, 1000, 3);
    ASSERT_EQ(bytes.size(), 1000 * size_of(t));
    bool negative = false, positive = false;
    for (uint64_t i = 0; i < 1000; ++i) {
      const double v = std::stod(print_elements(t, std::span(bytes).subspan(i * size_of(t)), 1));
      EXPECT_GE(v, -1);
      EXPECT_LT(v, 1);
      negative |= v < -0.5;
      positive |= v > 0.5;
    }
    EXPECT_TRUE(negative && positive) << name(t);
  }
}

// From the reference code of splitmix64 (Vigna), seed 0: part of the interface, never to change.
TEST(Flags, random_integers_are_those_of_splitmix64) {
  EXPECT_EQ(print_elements(Type::U64, random_elements(Type::U64, 3, 0), 3),
            "16294208416658607535 7960286522194355700 487617019471545679");
  for (const std::byte b : random_elements(Type::Bool, 100, 1)) EXPECT_LE(b, std::byte{1});
}

TEST(Flags, requests_beyond_the_limit_are_refused_before_they_are_made) {
  const auto r = parse_elements("random:1000", "x", Type::U32, {100, Code::MemoryLimitExceeded});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::MemoryLimitExceeded);
}

TEST(Flags, file_and_name_are_split_at_an_identifier) {
  const auto expect = [](const char* text, const char* file, const char* name) {
    const FileAndName split = split_file_and_name(text);
    EXPECT_EQ(split.file, file) << text;
    EXPECT_EQ(split.name, name) << text;
  };
  expect("a.vyre", "a.vyre", "");
  expect("a.vyre:k_1", "a.vyre", "k_1");
  expect("a:b:k", "a:b", "k");
  expect("a.vyre:1k", "a.vyre:1k", "");
  expect("a.vyre:", "a.vyre:", "");
  expect("-:k", "-", "k");
  expect(":k", ":k", "");
}

TEST(Flags, launch_lines_take_a_name_and_the_flags_of_run) {
  const auto launch = parse_launch_line({"k", "--in", "x=1", "--in", "y=2", "--set", "a=-1"});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->name, "k");
  EXPECT_EQ(launch->flags.in, (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_FALSE(parse_launch_line({"--print", "y"}));
}

}  // namespace
}  // namespace vyre::cli
