#include "ir/constant_trips.h"

#include <gtest/gtest.h>

#include "text/parse.h"

namespace vyre {
namespace {

/// The bound of the only loop of `k`.
std::optional<uint64_t> bound(const std::string& body) {
  const ParseOutcome parsed = parse(
      "kernel k(x: in u32[], o: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  let i = global_id.x\n" +
          body + "\n}\n",
      {.file_name = "trips.vyre"});
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources);
  if (!parsed.module) return std::nullopt;
  const Program& p = parsed.module->kernels[0];
  std::optional<uint64_t> found;
  walk(p, [&](OpId op) {
    if (is_loop(p.op(op).code)) found = most_trips(p, op);
  });
  return found;
}

TEST(constant_trips, of_for) {
  EXPECT_EQ(bound("for k in 0..100 { o[i] += k }"), 100u);
  EXPECT_EQ(bound("for k in 0..100 step 7 { o[i] += k }"), 15u);
  EXPECT_EQ(bound("for k in 9..3 { o[i] += k }"), 0u);
  EXPECT_EQ(bound("for k in 0..i { o[i] += k }"), std::nullopt);
}

TEST(constant_trips, of_for_from_or_to_negative_numbers) {
  EXPECT_EQ(bound("for k in i32(-1)..i32(2) { o[i] += u32(k) }"), 3u);
  EXPECT_EQ(bound("for k in i64(-9)..i64(-2) step 3 { o[i] += u32(k) }"), 3u);
  EXPECT_EQ(bound("for k in i8(-128)..i8(127) { o[i] += u32(k) }"), 255u);
  EXPECT_EQ(
      bound("for k in i64(-9223372036854775808)..i64(9223372036854775807) { o[i] += u32(k) }"),
      ~0ull);
  EXPECT_EQ(bound("for k in i32(2)..i32(-1) { o[i] += u32(k) }"), 0u);
  EXPECT_EQ(bound("for k in i32(-4)..i32(4) step -1 { o[i] += u32(k) }"), std::nullopt);
  EXPECT_EQ(bound("for k in u32(0x80000000)..u32(0x80000004) { o[i] += k }"), 4u);
}

TEST(constant_trips, of_while_whatever_side_the_step_is_on) {
  for (const char* step : {"n = n + 3", "n = 3 + n", "n += 3"})
    EXPECT_EQ(
        bound("var n: u32 = 1\nwhile (n < 100) & (i != n) { " + std::string(step) + " }\no[i] = n"),
        33u)
        << step;
  EXPECT_EQ(bound("var n: u32 = 128\nwhile n > 0 { n >>= 1 }\no[i] = n"), 32u);
}

TEST(constant_trips, of_while_that_may_go_on) {
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < 100 || x[n] != 0 { n += 1 }\no[i] = n"), std::nullopt);
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < i { n += 1 }\no[i] = n"), std::nullopt);
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < 100 { n += x[n] }\no[i] = n"), std::nullopt);
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < 100 { n = 3 - n }\no[i] = n"), std::nullopt);
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < 0xfffffffe { n += 3 }\no[i] = n"), std::nullopt)
      << "it wraps";
  EXPECT_EQ(bound("var n: u32 = 0\nwhile n < 100 { if x[n] == 7 { continue }\nn += 1 }\no[i] = n"),
            std::nullopt);
}

}  // namespace
}  // namespace vyre
