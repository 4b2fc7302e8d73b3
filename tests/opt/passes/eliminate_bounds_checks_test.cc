#include "opt/passes/eliminate_bounds_checks.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::opt {
namespace {

PassResult eliminate(const std::string& body) {
  const Program before = program_of(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(8) grid(16) {\n"
      "let g = global_id.x\nlet m = n\n" +
      body + "\n}\n");
  const PassResult r = run_pass(eliminate_bounds_checks, before);
  expect_same_results(before, r.program);
  return r;
}

size_t loops_after(const std::string& body) {
  const Program p = eliminate(body).program;
  return count(p, Opcode::For) + count(p, Opcode::While);
}

// Indices below zero, sums that wrap, counters that go down, steps, offsets by invariants: the
// results with lengths and bounds of all kinds are compared in eliminate().
TEST(EliminateBoundsChecks, copies_are_right_for_every_index) {
  for (const char* index :
       {"i", "i - 1", "i + 4294967295", "m - i", "m + i", "i * 3", "(i << 2) + m", "m - i - 1",
        "u64(i) * 2", "u64(i + m)", "i + m * 2 + 3", "i * 4000000000", "i32(i) - 2",
        "i64(i32(i) - i32(m))"}) {
    const size_t loops = loops_after("var s = 0\n for i in 0..m { s = s * 3 + x[" +
                                     std::string(index) + "] }\n if g < len(z) { z[g] = s }");
    EXPECT_EQ(loops, std::string_view(index) == "i * 4000000000" ? 1u : 2u) << index;
  }
  EXPECT_EQ(
      loops_after(
          "var s = 0\n for i in m..90 step 3 { s = s * 3 + x[i] }\n if g < len(z) { z[g] = s }"),
      2u);
  EXPECT_EQ(loops_after("for i in 0..m { if i % 16 == g { y[i] = y[i] * 5 + 1 } }"), 2u);
  EXPECT_EQ(
      loops_after("for i in 0..m { if y[i] == 24 { break }\n if i % 16 == g { z[i] = x[i] } }"),
      2u);
}

TEST(EliminateBoundsChecks, large_loops_are_not_copied) {
  std::string large = "var s = 0\nfor i in 0..m {";
  for (int k = 0; k < 60; ++k) large += " s = s * 3 + i\n";
  const PassResult r = eliminate(large + "s += x[i] }\nif g < len(z) { z[g] = s }");
  EXPECT_TRUE(std::ranges::any_of(
      r.refusals, [](const Refusal& f) { return f.why == "the loop is too large to copy"; }));
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
