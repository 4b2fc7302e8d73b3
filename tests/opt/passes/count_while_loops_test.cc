#include "opt/passes/count_while_loops.h"

#include "opt/device_costs.h"
#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

struct Loops {
  size_t fors = 0, whiles = 0;
  std::string why;
};

/// Converts the loops of a kernel with this body, and compares the results.
Loops converted(const std::string& body) {
  const Program before = program_of(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(4) grid(16) {\n"
      "let g = global_id.x\nvar s: u32 = 0\nvar i: u32 = 0\n" +
      body + "\nz[g] = s + i\n}\n");
  const PassResult r = run_pass(count_while_loops, before);
  expect_same_results(before, r.program);
  Loops loops{count(r.program, Opcode::For), count(r.program, Opcode::While), ""};
  if (!r.refusals.empty()) loops.why = r.refusals[0].why;
  return loops;
}

TEST(CountWhileLoops, a_test_of_a_counter_becomes_the_bounds) {
  EXPECT_EQ(converted("while i < 9 { s = s * 3 + i\n i += 1 }").fors, 1u);
  EXPECT_EQ(converted("while 9 > i { s = s * 3 + i\n i = 1 + i }").fors, 1u);
  EXPECT_EQ(converted("i = g\n while i < 5 { s = s * 3 + i\n i += 1 }").fors, 1u);  // some none
  EXPECT_EQ(
      converted("var j: i8 = -120i8\n while j < 127i8 { s = s * 3 + u32(j)\n j += 1i8 }").fors, 1u);
}

TEST(CountWhileLoops, exits_stay) {
  EXPECT_EQ(converted("while i < 9 { if s > 10 { break }\n s = s + i\n i += 1 }").fors, 1u);
  EXPECT_EQ(converted("while i < 9 { if s > 10 + g { return }\n s = s + i\n i += 1 }").fors, 1u);
  EXPECT_EQ(
      converted("while i < 9 { for k in 0..i { if k > 3 { continue }\n s += k }\n i += 1 }").fors,
      2u);
}

TEST(CountWhileLoops, inner_and_outer_loops) {
  const Loops both =
      converted("while i < 5 { var k: u32 = i\n while k < g { s = s * 3 + k\n k += 1 }\n i += 1 }");
  EXPECT_EQ(both.fors, 2u);
  EXPECT_EQ(both.whiles, 0u);
  // The limit of the inner loop is a value of the outer one.
  EXPECT_EQ(
      converted("while i < 5 { var k: u32 = 0\n while k < i { s += k\n k += 1 }\n i += 1 }").fors,
      2u);
}

TEST(CountWhileLoops, loops_that_do_not_count_by_one_below_a_limit_stay) {
  for (const char* body :
       {"while i < 9 { s += i\n i += 2 }", "while i <= 9 { s += i\n i += 1 }",
        "while i != 9 { s += i\n i += 1 }", "while i < 20 - s { s += 3\n i += 1 }",
        "while i < 9 || s < 4 { s += 1\n i += 1 }", "while i < 9 && s < 100 { s += i\n i += 1 }",
        "while i < len(x) && x[i] != x[g + 3] { s += i\n i += 1 }",
        "while i < 9 { if s == 3 { i += 2\n s += 1\n continue }\n s += 1\n i += 1 }",
        "while i < 9 { s += 1\n if s > 3 { i += 1 } }"}) {
    const Loops loops = converted(body);
    EXPECT_EQ(loops.whiles, 1u) << body;
    EXPECT_FALSE(loops.why.empty()) << body;
  }
}

TEST(CountWhileLoops, tests_with_effects_stay) {
  EXPECT_EQ(converted("while i < 9 && atomic_add(y[0], 0) < 50 { s += 1\n i += 1 }").whiles, 1u);
}

TEST(CountWhileLoops, devices_on_which_it_does_not_pay_keep_their_loops) {
  Program p = program_of(
      "kernel k(n: u32, y: out u32[4]) workgroup(4) grid(4) { var i: u32 = 0\n while i < n { y[i] "
      "= "
      "i\n i += 1 } }\n");
  Facts facts(p);
  const Target target{.costs = &cpu_costs};
  PassContext context{facts, target, {}, 0, false};
  EXPECT_FALSE(*count_while_loops(p, context));
  ASSERT_EQ(context.refused, 1u);
  const Target gpu{.costs = &gpu_costs};
  PassContext on_gpu{facts, gpu, {}, 0, false};
  EXPECT_TRUE(*count_while_loops(p, on_gpu));
}

}  // namespace
}  // namespace vyre::opt
