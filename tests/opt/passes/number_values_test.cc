#include "opt/passes/number_values.h"

#include <gtest/gtest.h>

#include "tests/opt/pass_util.h"

namespace vyre::opt {
namespace {

PassResult numbered(const std::string& body) {
  return run_pass(number_values,
                  "kernel k(x: in u32[], n: u32, b: inout u32[], c: inout u32[], y: out u32[], g: "
                  "in f16[]) workgroup(64) subgroup(32) grid(len(x)) {\n"
                  "  shared s: u32[64]\n" +
                      body + "\n}\n");
}
size_t loads(const std::string& body) { return count(numbered(body).program, Opcode::Load); }

TEST(NumberValues, equal_ops_are_computed_once) {
  const PassResult r = numbered("y[0] = (n + 1) * (n + 1)\ny[1] = (1 + n) + 5");
  EXPECT_EQ(count(r.program, Opcode::Add), 2u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::Scalar), 1u);
}

TEST(NumberValues, other_operands_types_or_dimensions_are_other_ops) {
  EXPECT_EQ(count(numbered("y[0] = n - 1\ny[1] = 1 - n").program, Opcode::Sub), 2u);
  EXPECT_EQ(count(numbered("y[0] = global_id.x\ny[1] = global_id.y").program, Opcode::GlobalId),
            2u);
  EXPECT_EQ(count(numbered("y[0] = u32(u8(n))\ny[1] = u32(u16(n))").program, Opcode::Cast), 4u);
  EXPECT_EQ(count(numbered("y[0] = len(x)\ny[1] = len(b)").program, Opcode::Len), 2u);
}

TEST(NumberValues, loads_are_done_once) {
  EXPECT_EQ(loads("y[0] = x[3] + x[3]"), 1u);
  EXPECT_EQ(loads("y[0] = b[3]\ny[1] = b[3]"), 1u) << "a store to another buffer does not matter";
  EXPECT_EQ(loads("y[0] = b[3]\nlet a = atomic_add(c[3], 1)\ny[1] = b[3]"), 1u);
}

TEST(NumberValues, a_load_is_repeated_after_what_may_change_it) {
  EXPECT_EQ(loads("y[0] = b[3]\nb[n] = 1\ny[1] = b[3]"), 2u);
  EXPECT_EQ(loads("y[0] = b[3]\nlet a = atomic_add(b[0], 1)\ny[1] = b[3]"), 2u);
  EXPECT_EQ(loads("y[0] = b[3]\nbarrier workgroup\ny[1] = b[3]"), 2u);
  EXPECT_EQ(loads("y[0] = s[3]\nbarrier workgroup\ny[1] = s[3]"), 2u);
  EXPECT_EQ(loads("y[0] = b[3]\nlet a = atomic_add(c[3], 1, acq_rel)\ny[1] = b[3]"), 2u);
  EXPECT_EQ(loads("y[0] = b[3]\nlet a = uniform_load(c[0])\ny[1] = b[3]"), 2u);
}

TEST(NumberValues, barriers_do_not_change_what_nobody_writes) {
  EXPECT_EQ(loads("y[0] = x[3]\nbarrier workgroup\ny[1] = x[3]"), 1u);
  EXPECT_EQ(loads("var w: u32[4]\nw[n] = 1\ny[0] = w[3]\nbarrier workgroup\ny[1] = w[3]"), 1u);
}

TEST(NumberValues, a_private_array_is_changed_by_its_own_stores) {
  EXPECT_EQ(loads("var w: u32[4]\nw[n] = 1\ny[0] = w[3]\nw[n] = 2\ny[1] = w[3]"), 2u);
}

TEST(NumberValues, arms_see_what_was_before_and_not_each_other) {
  EXPECT_EQ(loads("y[0] = b[3]\nif n < 5 {\n  y[1] = b[3]\n} else {\n  y[2] = b[3]\n}"), 1u);
  EXPECT_EQ(loads("if n < 5 {\n  y[1] = b[3]\n} else {\n  y[2] = b[3]\n}\ny[0] = b[3]"), 3u);
  EXPECT_EQ(loads("y[0] = b[3]\nif n < 5 {\n  b[0] = 1\n  y[1] = b[3]\n} else {\n  y[2] = "
                  "b[3]\n}\ny[3] = b[3]"),
            3u)
      << "the first arm changes it, the second does not, after both it may be changed";
  EXPECT_EQ(
      loads("y[0] = b[3]\nif n < 5 {\n  if n < 3 {\n    b[0] = 1\n  }\n} else {\n  y[2] = b[3]\n}"),
      1u)
      << "an if inside the first arm does not change what the second sees";
  EXPECT_EQ(loads("y[0] = b[3]\nif n < 5 {\n  b[0] = 1\n  y[1] = b[3]\n  if n < 3 {\n    y[2] = "
                  "2\n  }\n} else {\n  y[2] = b[3]\n}"),
            2u);
  EXPECT_EQ(loads("y[0] = b[3]\nif n < 5 {\n  b[0] = 1\n  if n < 3 {\n    y[2] = b[3]\n  } else "
                  "{\n    y[1] = b[3]\n  }\n}"),
            3u);
}

TEST(NumberValues, loops_begin_with_what_an_earlier_iteration_left) {
  EXPECT_EQ(loads("y[0] = b[3]\nfor i in 0..n {\n  y[1] = b[3]\n  b[i] = 1\n}"), 2u);
  EXPECT_EQ(loads("y[0] = b[3]\nfor i in 0..n {\n  y[i] = b[3]\n}\ny[1] = b[3]"), 1u);
  EXPECT_EQ(loads("y[0] = b[3]\nfor i in 0..n {\n  b[i] = 1\n}\ny[1] = b[3]"), 2u);
}

TEST(NumberValues, a_while_body_sees_its_test) {
  const PassResult r =
      numbered("var i = 0\nwhile b[i] != 7 {\n  y[i] = b[i]\n  i = i + 1\n}\ny[0] = b[i]");
  EXPECT_EQ(count(r.program, Opcode::Load), 2u) << print(r.program);
  EXPECT_EQ(
      loads("var i = 0\nwhile b[i] != 7 {\n  y[i] = b[i]\n  b[i] = 1\n  i = i + 1\n}\ny[0] = b[0]"),
      2u);
}

TEST(NumberValues, subgroup_ops_atomics_and_uniform_loads_stay) {
  EXPECT_EQ(count(numbered("y[0] = subgroup_add(n)\ny[1] = subgroup_add(n)").program,
                  Opcode::SubgroupAdd),
            2u);
  EXPECT_EQ(count(numbered("y[0] = atomic_add(b[0], 1)\ny[1] = atomic_add(b[0], 1)").program,
                  Opcode::AtomicAdd),
            2u);
  EXPECT_EQ(count(numbered("y[0] = atomic_load(b[0])\ny[1] = atomic_load(b[0])").program,
                  Opcode::AtomicLoad),
            2u);
  EXPECT_EQ(count(numbered("y[0] = uniform_load(b[0])\ny[1] = uniform_load(b[0])").program,
                  Opcode::UniformLoad),
            2u);
}

}  // namespace
}  // namespace vyre::opt
