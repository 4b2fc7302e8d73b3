#include "opt/passes/hoist_invariants.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

struct Outcome {
  Program program;
  size_t inside = 0;  // ops of that kind that are left in loops
  std::string why;
};

Outcome hoist(Opcode code, const std::string& body) {
  const Program before = program_of(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(4) grid(16) {\n"
      "let g = global_id.x\nlet m = n\n" +
      body + "\n}\n");
  const PassResult r = run_pass(hoist_invariants, before);
  expect_same_results(before, r.program);
  Outcome out{r.program, 0, r.refusals.empty() ? "" : r.refusals[0].why};
  const Program& p = out.program;
  walk(p, [&](OpId op) {
    if (p.op(op).code != code) return;
    for (OpId at = op; at != none; at = p.blocks[p.op(at).parent].parent)
      if (is_loop(p.op(at).code)) {
        ++out.inside;
        return;
      }
  });
  return out;
}

TEST(HoistInvariants, pure_ops_leave_all_loops_they_can) {
  EXPECT_EQ(
      hoist(Opcode::Mul, "var s = 0\n for i in 0..m { for j in 0..m { s += g * 3 } }\n z[g] = s")
          .inside,
      0u);
  EXPECT_EQ(
      hoist(Opcode::Mul, "var s = 0\n for i in 0..m { for j in 0..m { s += i * 3 } }\n z[g] = s")
          .inside,
      1u);
}

TEST(HoistInvariants, what_stands_under_an_if_stays_there) {
  EXPECT_EQ(hoist(Opcode::Mul, "var s = 0\n for i in 0..m { if i == 3 { s += g * 3 } }\n z[g] = s")
                .inside,
            1u);
}

TEST(HoistInvariants, a_load_of_a_loop_that_surely_runs) {
  const Outcome out = hoist(Opcode::Load, "var s = 0\n for i in 0..9 { s += x[g] * i }\n z[g] = s");
  EXPECT_EQ(out.inside, 0u);
}

// A loop without iterations reads nothing.
TEST(HoistInvariants, no_load_out_of_a_loop_that_may_not_run) {
  const Outcome out = hoist(Opcode::Load, "var s = 0\n for i in 0..m { s += x[g] }\n z[g] = s");
  EXPECT_EQ(out.inside, 1u);
  EXPECT_EQ(out.why, "the loop may not get to it");
  EXPECT_EQ(hoist(Opcode::Load, "var s = 0\n for i in 5..5 { s += x[g] }\n z[g] = s").inside, 1u);
  EXPECT_EQ(hoist(Opcode::Load,
                  "var s = 0\n for i in 0..9 { if m == i { break }\n s += x[g] }\n z[g] = s")
                .inside,
            1u);
  EXPECT_EQ(
      hoist(Opcode::Load, "var s = 0\n for i in 0..9 { assert(m < 300, 1)\n s += x[g] }\n z[g] = s")
          .inside,
      1u);
  EXPECT_EQ(hoist(Opcode::Load, "var s = 0\n while s < m { s += x[g] + 1 }\n z[g] = s").inside, 1u);
}

TEST(HoistInvariants, no_load_of_what_the_loop_changes) {
  const Outcome out =
      hoist(Opcode::Load, "var s = 0\n for i in 0..9 { s += y[g]\n y[g] = s }\n z[g] = s");
  EXPECT_EQ(out.inside, 1u);
  EXPECT_EQ(out.why, "the loop may change the buffer");
  EXPECT_EQ(hoist(Opcode::Load,
                  "var s = 0\n for i in 0..9 { s += y[g]\n barrier workgroup\n }\n z[g] = s")
                .inside,
            1u);
  EXPECT_EQ(hoist(Opcode::Load,
                  "var s = 0\n for i in 0..9 { s += x[g]\n barrier workgroup\n }\n z[g] = s")
                .inside,
            0u);
}

TEST(HoistInvariants, no_atomic) {
  EXPECT_EQ(hoist(Opcode::AtomicAdd, "for i in 0..9 { atomic_add(y[0], 1) }").inside, 1u);
}

// The proof may have counted on the loop's own test.
TEST(HoistInvariants, a_load_that_moves_loses_its_proof) {
  const Program before = program_of(R"(vyre 1
kernel k(x: in u32[16], y: out u32[16]) workgroup(1) grid(16) {
  %0 = const 0 : u32
  %1 = const 9 : u32
  %2 = const 1 : u32
  %3 = for %4 in %0..%1 step %2 with %5 = %0 : u32 {
    %6 = load x[%1] in_bounds : u32
    %7 = add %6, %5 : u32
    yield %7
  }
  store y[%0], %3
  return
})");
  bool was = false, is = false;
  walk(before,
       [&](OpId op) { was |= before.op(op).code == Opcode::Load && before.memory(op).in_bounds; });
  const Program after = run_pass(hoist_invariants, before).program;
  walk(after,
       [&](OpId op) { is |= after.op(op).code == Opcode::Load && after.memory(op).in_bounds; });
  EXPECT_TRUE(was);
  EXPECT_FALSE(is);
}

}  // namespace
}  // namespace vyre::opt
