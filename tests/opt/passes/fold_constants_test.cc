#include "opt/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "tests/opt/pass_util.h"

namespace vyre::opt {
namespace {

PassResult folded(const std::string& body) {
  return run_pass(fold_constants,
                  "kernel k(x: in u32[], n: u32, y: inout u32[], z: out i32[], g: out f32[]) "
                  "workgroup(64) grid(len(x)) {\n" +
                      body + "\n}\n");
}

/// The constant that is stored last, or none.
std::optional<uint64_t> stored(const Program& p) {
  std::optional<uint64_t> bits;
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::Store) return;
    const OpId def = p.values[p.operand(op, 1)].def;
    bits.reset();
    if (def != none && p.op(def).code == Opcode::Const) bits = p.op(def).attr;
  });
  return bits;
}

TEST(FoldConstants, computes_by_the_law) {
  EXPECT_EQ(stored(folded("let a = 4000000000u32\ny[0] = a + a").program), 3705032704u);
  EXPECT_EQ(stored(folded("let a = 7u32\ny[0] = a / 0").program), 0xffffffffu);
  EXPECT_EQ(stored(folded("let a = 7u32\ny[0] = a << 33").program), 14u);
  EXPECT_EQ(stored(folded("let a = -2147483648i32\nz[0] = a / -1").program), 0x80000000u);
  EXPECT_EQ(stored(folded("let a = 0.1f32\ng[0] = a + 0.2").program), 0x3e99999au);
  EXPECT_EQ(stored(folded("let a = 0.0f32\ng[0] = -a").program), 0x80000000u);
  EXPECT_EQ(stored(folded("let a = 300u32\ny[0] = u32(u8(a))").program), 44u);
}

TEST(FoldConstants, goes_through_chains_in_one_run) {
  const PassResult r =
      folded("var a = 1\na = a * 3\na = a + 4\na = a << 2\ny[0] = select(a == 28, a, 0)");
  EXPECT_EQ(stored(r.program), 28u);
  EXPECT_EQ(count(r.program, Opcode::Select) + count(r.program, Opcode::Mul) +
                count(r.program, Opcode::Shl),
            0u);
}

TEST(FoldConstants, takes_the_arm_that_is_known) {
  const PassResult r = folded(
      "var a = x[0]\nif 1 < 2 {\n  a = a + 1\n  y[1] = a\n} else {\n  y[2] = atomic_add(y[3], "
      "1)\n}\ny[0] = a");
  EXPECT_EQ(count(r.program, Opcode::If), 0u);
  EXPECT_EQ(count(r.program, Opcode::AtomicAdd), 0u) << "it is never reached";
  EXPECT_EQ(count(r.program, Opcode::Store), 2u);
}

TEST(FoldConstants, what_follows_an_arm_that_leaves_is_gone) {
  const PassResult r = folded("y[0] = 1\nif true {\n  y[1] = 2\n  return\n}\ny[2] = 3");
  EXPECT_EQ(count(r.program, Opcode::Store), 2u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::Return), 1u);
}

TEST(FoldConstants, an_arm_that_leaves_a_loop) {
  const PassResult r = folded(
      "var a = 0\nfor i in 0..n {\n  a = a + x[i]\n  if true {\n    break\n  }\n  y[1] = "
      "7\n}\ny[0] = a");
  EXPECT_EQ(count(r.program, Opcode::If), 0u);
  EXPECT_EQ(count(r.program, Opcode::Store), 1u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::Break), 1u);
}

TEST(FoldConstants, nested_arms_that_leave) {
  const PassResult r = folded(
      "var a = x[0]\nfor i in 0..n {\n  if a < 5 {\n    if true {\n      a = a + 1\n      "
      "continue\n    }\n    y[3] = 1\n  }\n  a = a + 2\n}\ny[0] = a");
  EXPECT_EQ(count(r.program, Opcode::If), 1u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::Store), 1u);
}

TEST(FoldConstants, an_arm_that_is_not_taken_does_not_leave) {
  const PassResult r = folded("if false {\n  return\n}\ny[0] = 1");
  EXPECT_EQ(count(r.program, Opcode::If), 0u);
  EXPECT_EQ(stored(r.program), 1u);
}

TEST(FoldConstants, loops_without_iterations_go) {
  EXPECT_EQ(
      count(folded("var a = 5\nfor i in 7..7 {\n  a = a + x[i]\n}\ny[0] = a").program, Opcode::For),
      0u);
  const PassResult r =
      folded("var a = 5\nfor i in 9..3 {\n  a = a + x[i]\n  y[i] = 1\n}\ny[0] = a");
  EXPECT_EQ(count(r.program, Opcode::For), 0u);
  EXPECT_EQ(stored(r.program), 5u) << "the carried value comes out as it went in";
  EXPECT_EQ(count(folded("for i in 0..n step 0 {\n  y[i] = 1\n}").program, Opcode::For), 0u);
  EXPECT_EQ(count(folded("for i in 0i32..9 step -1 {\n  y[i] = 1\n}").program, Opcode::For), 0u);
}

TEST(FoldConstants, loops_with_iterations_stay) {
  EXPECT_FALSE(folded("for i in 0..1 {\n  y[i] = x[i]\n}").changed);
  EXPECT_FALSE(folded("for i in -3i32..-2 {\n  y[i] = x[0]\n}").changed);
  EXPECT_FALSE(folded("for i in 0..n {\n  y[i] = x[i]\n}").changed);
}

TEST(FoldConstants, effects_are_never_folded) {
  const PassResult r = folded(
      "let a = atomic_add(y[0], 1)\nassert(1 < 2, 3)\ny[1] = x[0]\nlet c = 2 < 1\ny[2] = select(c, "
      "a, 4)");
  EXPECT_EQ(count(r.program, Opcode::AtomicAdd), 1u);
  EXPECT_EQ(count(r.program, Opcode::Assert), 1u);
  EXPECT_EQ(count(r.program, Opcode::Load), 1u);
  EXPECT_EQ(count(r.program, Opcode::Select), 0u);
}

TEST(FoldConstants, leaves_what_is_not_constant) {
  EXPECT_FALSE(folded("y[0] = n + 1\ny[global_id.x] = len(x)").changed);
}

}  // namespace
}  // namespace vyre::opt
