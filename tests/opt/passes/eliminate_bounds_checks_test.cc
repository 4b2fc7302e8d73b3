#include "opt/passes/eliminate_bounds_checks.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::opt {
namespace {

struct Outcome {
  size_t marked = 0, unmarked = 0, loops = 0;
  std::vector<std::string> why;
  bool said(std::string_view what) const {
    return std::find(why.begin(), why.end(), what) != why.end();
  }
};

Outcome eliminate_in(const std::string& text) {
  const Program before = program_of(text);
  const PassResult r = run_pass(eliminate_bounds_checks, before);
  expect_same_results(before, r.program);
  Outcome out;
  walk(r.program, [&](OpId op) {
    const Opcode code = r.program.op(op).code;
    out.loops += is_loop(code);
    if (info(code).attribute == AttrKind::Memory)
      ++(r.program.memory(op).in_bounds ? out.marked : out.unmarked);
  });
  for (const Refusal& refusal : r.refusals) out.why.push_back(refusal.why);
  return out;
}

Outcome eliminate(const std::string& body) {
  return eliminate_in(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(8) grid(16) {\n"
      "let g = global_id.x\nlet m = n\n" +
      body + "\n}\n");
}

TEST(EliminateBoundsChecks, what_a_test_around_the_access_proves) {
  EXPECT_EQ(eliminate("if g < len(y) { y[g] = 1 }").marked, 1u);
  EXPECT_EQ(eliminate("if g < len(y) { z[g] = y[g] }").marked, 2u);  // as long by formula
  EXPECT_EQ(eliminate("if g >= len(y) { return }\n y[g] = 1").marked, 1u);
  EXPECT_EQ(eliminate("assert(g < len(y), 1)\n atomic_add(y[g], 1)").marked, 1u);
}

TEST(EliminateBoundsChecks, what_is_not_proved_stays) {
  const Outcome out = eliminate("let k = len(y)\n y[g] = k");
  EXPECT_EQ(out.marked, 0u);
  EXPECT_TRUE(out.said("the index is not proved to be in bounds"));
  EXPECT_EQ(eliminate("if g <= len(y) { y[g] = 1 }").marked, 0u);
  EXPECT_EQ(eliminate("if g < len(y) { y[g + 1] = 1 }").marked, 0u);
  EXPECT_EQ(eliminate("if g < len(y) { z[0] = x[g] }").marked, 0u);
}

TEST(EliminateBoundsChecks, not_where_the_index_can_wrap_among_elements) {
  const std::string begin = "kernel k(y: out u32[8]) workgroup(8) grid(8) {\n";
  EXPECT_EQ(
      eliminate_in(begin + "shared t: u32[256]\n t[u8(local_id.x + 251)] = 1\n y[0] = 1 }").marked,
      1u);
  EXPECT_TRUE(eliminate_in(begin + "shared t: u32[256]\n t[u8(local_id.x + 251)] = 1\n y[0] = 1 }")
                  .said("the buffer may have more elements than the index can count"));
  EXPECT_EQ(
      eliminate_in(begin + "shared t: u32[256]\n t[(local_id.x + 251) & 255] = 1\n y[0] = 1 }")
          .marked,
      2u);
}

TEST(EliminateBoundsChecks, a_loop_gets_a_copy_without_tests) {
  const Outcome out =
      eliminate("var s = 0\n for i in 0..m { s += x[i] + x[i + 1] }\n if g < len(z) { z[g] = s }");
  EXPECT_EQ(out.loops, 2u);
  EXPECT_EQ(out.marked, 3u);
  EXPECT_EQ(out.unmarked, 2u);
}

// Indices below zero, sums that wrap, counters that go down, steps, offsets by invariants: the
// results with lengths and bounds of all kinds are compared in eliminate().
TEST(EliminateBoundsChecks, copies_are_right_for_every_index) {
  for (const char* index :
       {"i", "i - 1", "i + 4294967295", "m - i", "m + i", "i * 3", "(i << 2) + m", "m - i - 1",
        "u64(i) * 2", "u64(i + m)", "i + m * 2 + 3", "i * 4000000000", "i32(i) - 2",
        "i64(i32(i) - i32(m))"}) {
    const Outcome out = eliminate("var s = 0\n for i in 0..m { s = s * 3 + x[" +
                                  std::string(index) + "] }\n if g < len(z) { z[g] = s }");
    EXPECT_EQ(out.loops, std::string_view(index) == "i * 4000000000" ? 1u : 2u) << index;
  }
  EXPECT_EQ(
      eliminate(
          "var s = 0\n for i in m..90 step 3 { s = s * 3 + x[i] }\n if g < len(z) { z[g] = s }")
          .loops,
      2u);
  EXPECT_EQ(eliminate("for i in 0..m { if i % 16 == g { y[i] = y[i] * 5 + 1 } }").loops, 2u);
  EXPECT_EQ(
      eliminate("for i in 0..m { if y[i] == 24 { break }\n if i % 16 == g { z[i] = x[i] } }").loops,
      2u);
}

TEST(EliminateBoundsChecks, loops_that_are_not_copied) {
  const auto why = [](const std::string& loop) {
    return eliminate("var s = 0\n" + loop + "\nif g < len(z) { z[g] = s }");
  };
  EXPECT_TRUE(why("for i in 0..5 { s += x[i] }").said("the loop runs a few iterations only"));
  EXPECT_TRUE(why("for i in 0..m { s += x[i + g] }").said("the test would differ between lanes"));
  EXPECT_TRUE(why("for i in 0..m { s += x[i * i] }")
                  .said("no index in it is a sum of multiples of invariants and the counter"));
  EXPECT_TRUE(why("for i in 0..m { s += x[i]\n if s == 77 { return } }")
                  .said("the loop holds a barrier, a subgroup operation or a return"));
  EXPECT_TRUE(why("for i in 0..m { s += x[i]\n barrier workgroup\n }")
                  .said("the loop holds a barrier, a subgroup operation or a return"));
  std::string large = "for i in 0..m {";
  for (int k = 0; k < 60; ++k) large += " s = s * 3 + i\n";
  EXPECT_TRUE(why(large + "s += x[i] }").said("the loop is too large to copy"));
}

TEST(EliminateBoundsChecks, a_thousand_ops_take_no_time_and_time_grows_with_them) {
  const auto seconds = [](int accesses) {
    std::string text =
        "kernel k(x: in u32[], n: u32, y: inout u32[]) workgroup(8) grid(16) {\nlet g = "
        "global_id.x\nvar s = n\n";
    for (int i = 0; i < accesses; ++i) text += "if g + s < len(y) { s = s * 5 + y[g + s] }\n";
    const Program p = program_of(text + "y[g] = s\n}\n");
    double best = 1;
    for (int i = 0; i < 5; ++i) {
      Program copy = p;
      Facts facts(copy);
      const Target target;
      PassContext context{facts, target, {}, 0, false};
      const double begin = cpu_seconds();
      EXPECT_TRUE(eliminate_bounds_checks(copy, context));
      best = std::min(best, cpu_seconds() - begin);
    }
    return best;
  };
  const double small = seconds(125), large = seconds(1000);
  EXPECT_LT(large, small * 8 * 4 + 0.001);
}

}  // namespace
}  // namespace vyre::opt
