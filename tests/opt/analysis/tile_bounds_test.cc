#include "opt/analysis/tile_bounds.h"

#include <fmt/format.h>

#include "opt/analysis/analysis_cache.h"
#include "tests/opt/program_util.h"

namespace vyre::opt {
namespace {

/// Returns the tile of the index of the last load of x, as "group*w+[low,high]", followed by "~" if
/// it may wrap.
std::string window(const std::string& index, uint64_t groups = 1000, bool by_invocation = false) {
  const Program p = program_of(
      "kernel k(x: in u32[], n: u32, y: out u32[1]) workgroup(8, 2) grid(100) {\n"
      "let i = global_id.x\nlet l = local_id.x\nlet w = workgroup_id.x\n" +
      index + "\n}\n");
  const Ranges ranges(p);
  const TileForms forms(p, ranges, groups);
  OpId last = none;
  walk(p, [&](OpId op) {
    if (p.op(op).code == Opcode::Load) last = op;
  });
  const ValueId v = p.operand(last, 0);
  const auto t = by_invocation ? forms.by_invocation(v, last) : forms.window(v, last);
  if (!t) return "none";
  return fmt::format("{}*w+[{},{}]{}", int64_t(t->group), int64_t(t->low), int64_t(t->high),
                     t->exact ? "" : "~");
}

TEST(TileBounds, sums_go_with_the_workgroup) {
  EXPECT_EQ(window("y[0] = x[i]"), "8*w+[0,7]");
  EXPECT_EQ(window("y[0] = x[w * 8 + l]"), "8*w+[0,7]");
  EXPECT_EQ(window("y[0] = x[i * 4 + 3]"), "32*w+[3,31]");
  EXPECT_EQ(window("y[0] = x[(i << 2) | 1]"), "32*w+[1,29]");
  EXPECT_EQ(window("y[0] = x[w * 16 + local_id.y * 8 + (7 - l)]"), "16*w+[0,15]");
  EXPECT_EQ(window("y[0] = x[i - 3]"), "8*w+[-3,4]~");
  EXPECT_EQ(window("y[0] = x[i32(i) - 3]"), "8*w+[-3,4]");
  EXPECT_EQ(window("y[0] = x[l % 3]"), "0*w+[0,2]");
}

// With so many workgroups the product may leave 32 bits, and a comparison would tell.
TEST(TileBounds, what_may_wrap_is_known_modulo_the_width) {
  EXPECT_EQ(window("y[0] = x[i * 64]", 1 << 20), "512*w+[0,448]");
  EXPECT_EQ(window("y[0] = x[i * 64]", 1 << 24), "512*w+[0,448]~");
  EXPECT_EQ(window("y[0] = x[i * 64 / 64]", 1 << 20), "8*w+[0,7]");
  EXPECT_NE(window("y[0] = x[i * 64 / 64]", 1 << 24), "8*w+[0,7]");
}

TEST(TileBounds, loops_and_conditions_are_seen_through) {
  EXPECT_EQ(window("for j in sat_sub(i * 4, 5)..min(i * 4 + 4, n) { y[0] = x[j] }"),
            "32*w+[-5,31]");
  EXPECT_EQ(window("var s = i\n if i >= 5 { s = i - 5 }\n y[0] = x[s]"), "8*w+[-5,7]");
  EXPECT_EQ(window("y[0] = x[select(n > 3, i + 1, i + 9)]"), "8*w+[1,16]");
  EXPECT_EQ(window("for j in 0..12 step 4 { y[0] = x[i + j] }"), "8*w+[0,15]");
  EXPECT_EQ(window("for j in 0..n { if j < 6 { y[0] = x[i + j] } }"), "8*w+[0,12]");
  EXPECT_EQ(window("y[0] = x[i / 4]"), "2*w+[0,1]");
  EXPECT_EQ(window("y[0] = x[i & ~3u32]"), "8*w+[0,4]");
  EXPECT_EQ(window("y[0] = x[ceil_div(i, 4)]"), "2*w+[0,2]");
}

TEST(TileBounds, of_what_is_not_understood_ranges_remain) {
  EXPECT_EQ(window("y[0] = x[min(x[i], 20)]"), "0*w+[0,20]");
  EXPECT_EQ(window("y[0] = x[i ^ n]"), "0*w+[0,4294967295]");
}

TEST(TileBounds, by_invocation_the_lane_counts) {
  EXPECT_EQ(window("y[0] = x[i * 3 + 1]", 1000, true), "3*w+[1,1]");
  EXPECT_EQ(window("y[0] = x[w * 8 + l]", 1000, true), "1*w+[0,0]");
  EXPECT_EQ(window("y[0] = x[w * 9 + l]", 1000, true), "none");
}

}  // namespace
}  // namespace vyre::opt
