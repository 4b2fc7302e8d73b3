#include "opt/passes/remove_dead_code.h"

#include <gtest/gtest.h>

#include "tests/opt/pass_util.h"

namespace vyre::opt {
namespace {

PassResult cleaned(const std::string& body) {
  return run_pass(remove_dead_code,
                  "kernel k(x: in u32[], n: u32, b: inout u32[], y: out u32[]) workgroup(64) "
                  "subgroup(32) grid(len(x)) {\n" +
                      body + "\n}\n");
}
size_t left(const std::string& body, Opcode code) { return count(cleaned(body).program, code); }

TEST(RemoveDeadCode, unused_ops_and_what_only_they_need_go) {
  const PassResult r = cleaned("let a = x[3] * 2 + n\nlet c = subgroup_add(a)\ny[0] = n");
  EXPECT_EQ(count(r.program, Opcode::Load) + count(r.program, Opcode::Mul) +
                count(r.program, Opcode::SubgroupAdd),
            0u);
  EXPECT_EQ(count(r.program, Opcode::Store), 1u);
}

TEST(RemoveDeadCode, what_others_can_see_stays) {
  EXPECT_EQ(left("let a = atomic_add(b[0], 1)", Opcode::AtomicAdd), 1u);
  EXPECT_EQ(left("assert(n < 5, 1)", Opcode::Assert), 1u);
  EXPECT_EQ(left("barrier workgroup", Opcode::Barrier), 1u);
  EXPECT_EQ(left("let a = uniform_load(b[0])", Opcode::UniformLoad), 1u);
  EXPECT_EQ(left("if n < 5 {\n  trap 3\n}", Opcode::Trap), 1u);
  EXPECT_EQ(left("if n < 5 {\n  return\n}\ny[0] = 1", Opcode::If), 1u);
}

TEST(RemoveDeadCode, a_while_stays_because_it_may_not_end) {
  EXPECT_EQ(left("var a = n\nwhile a != 1 {\n  a = a * 3\n}", Opcode::While), 1u);
  EXPECT_EQ(left("var a = n\nfor i in 0..n {\n  a = a * 3\n}", Opcode::For), 0u);
}

TEST(RemoveDeadCode, an_if_without_effect_goes_with_its_condition) {
  const PassResult r = cleaned("var a = 1\nif x[0] < 5 {\n  a = x[1]\n}\ny[0] = n");
  EXPECT_EQ(count(r.program, Opcode::If) + count(r.program, Opcode::Load), 0u);
}

TEST(RemoveDeadCode, results_of_an_if_that_nobody_needs_go) {
  const PassResult r =
      cleaned("var a = 1\nvar c = 2\nif n < 5 {\n  a = x[1]\n  c = x[2]\n  y[1] = 3\n}\ny[0] = c");
  EXPECT_EQ(count(r.program, Opcode::If), 1u);
  EXPECT_EQ(count(r.program, Opcode::Load), 1u);
  walk(r.program, [&](OpId op) {
    if (r.program.op(op).code == Opcode::If) {
      EXPECT_EQ(r.program.op(op).results.count, 1u);
    }
  });
}

TEST(RemoveDeadCode, values_that_only_feed_themselves_around_a_loop_go) {
  const PassResult r = cleaned(
      "var a = 0\nvar c = 0\nfor i in 0..n {\n  a = a + x[i]\n  c = c + 1\n  if c > 100 {\n    "
      "break\n  }\n  if a > 7 {\n    y[1] = a\n    continue\n  }\n}\ny[0] = c");
  EXPECT_EQ(count(r.program, Opcode::For), 1u);
  const PassResult less = cleaned(
      "var a = 0\nvar c = 0\nfor i in 0..n {\n  a = a + x[i]\n  c = c + 1\n  if c > 100 {\n    "
      "break\n  }\n}\ny[0] = c");
  EXPECT_EQ(count(less.program, Opcode::Load), 0u) << print(less.program);
  walk(less.program, [&](OpId op) {
    if (less.program.op(op).code == Opcode::For) {
      EXPECT_EQ(less.program.op(op).results.count, 1u);
    }
  });
}

TEST(RemoveDeadCode, carried_values_of_a_while) {
  const PassResult r =
      cleaned("var a = n\nvar c = 0\nwhile a > 1 {\n  a = a / 2\n  c = c + x[a]\n}\ny[0] = a");
  EXPECT_EQ(count(r.program, Opcode::Load), 0u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::While), 1u);
  EXPECT_EQ(
      count(cleaned("var a = n\nvar c = 0\nwhile a > 1 {\n  a = a / 2\n  c = c + x[a]\n}\ny[0] = c")
                .program,
            Opcode::Load),
      1u);
}

TEST(RemoveDeadCode, a_break_decides_how_often_the_rest_happens) {
  const PassResult r = cleaned("for i in 0..n {\n  if x[i] == 7 {\n    break\n  }\n  y[i] = 1\n}");
  EXPECT_EQ(count(r.program, Opcode::Break), 1u);
  EXPECT_EQ(count(r.program, Opcode::Load), 1u);
}

TEST(RemoveDeadCode, what_leaves_through_a_break_is_needed) {
  const PassResult r = cleaned(
      "var a = 0\nfor i in 0..n {\n  if i == 5 {\n    a = x[i]\n    break\n  }\n  a = 1\n}\ny[0] = "
      "a");
  EXPECT_EQ(count(r.program, Opcode::Load), 1u) << print(r.program);
}

TEST(RemoveDeadCode, nothing_to_take_away) {
  EXPECT_FALSE(cleaned("var a = 0\nfor i in 0..n {\n  a = a + x[i]\n}\ny[0] = a").changed);
}

}  // namespace
}  // namespace vyre::opt
