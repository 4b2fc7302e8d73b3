#include "opt/passes/merge_barriers.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

struct Outcome {
  std::string scopes;  // of the barriers that are left: s, w, g
  std::string why;
};

Outcome merge(const std::string& body) {
  const Program before = program_of(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(8) subgroup(4) "
      "grid(16) {\n"
      "shared a: u32[8]\nshared b: u32[8]\nshared c: u32[8]\n"
      "let l = local_id.x\nlet g = global_id.x\nlet m = n\n" +
      body + "\n}\n");
  const PassResult r = run_pass(merge_barriers, before);
  expect_same_results(before, r.program);
  Outcome out;
  walk(r.program, [&](OpId op) {
    if (r.program.op(op).code == Opcode::Barrier) out.scopes += "swg"[r.program.op(op).attr];
  });
  if (!r.refusals.empty()) out.why = r.refusals[0].why;
  return out;
}

TEST(MergeBarriers, one_that_separates_nothing_goes) {
  EXPECT_EQ(merge("a[l] = 1\n barrier workgroup\n b[l] = 2").scopes, "");
  EXPECT_EQ(merge("z[g] = x[g]\n barrier workgroup\n y[g] = x[g]").scopes, "");
}

TEST(MergeBarriers, one_that_separates_accesses_stays) {
  const Outcome out = merge("a[l] = g\n barrier workgroup\n z[g] = a[7 - l]");
  EXPECT_EQ(out.scopes, "w");
  EXPECT_EQ(out.why, "it separates accesses to one buffer");
  EXPECT_EQ(merge("z[g] = a[7 - l]\n barrier workgroup\n a[l] = g").scopes, "w");
}

// A-B and B-C are independent, A-C is not: taking both away would leave A and C unordered.
TEST(MergeBarriers, of_three_stretches_one_barrier_stays) {
  EXPECT_EQ(
      merge("a[l] = g\n barrier workgroup\n b[l] = 2\n barrier workgroup\n z[g] = a[7 - l]").scopes,
      "w");
  EXPECT_EQ(merge("a[l] = g\n barrier workgroup\n b[l] = 2\n barrier workgroup\n c[l] = 3\n "
                  "barrier workgroup\n"
                  "z[g] = a[7 - l] + b[7 - l] + c[7 - l]")
                .scopes,
            "w");
}

TEST(MergeBarriers, next_to_each_other_the_larger_stays) {
  EXPECT_EQ(merge("a[l] = g\n barrier workgroup\n barrier workgroup\n z[g] = a[7 - l]").scopes,
            "w");
  EXPECT_EQ(merge("a[l] = g\n barrier subgroup\n barrier workgroup\n z[g] = a[7 - l]").scopes, "w");
  EXPECT_EQ(merge("a[l] = g\n barrier workgroup\n barrier subgroup\n z[g] = a[7 - l]").scopes, "w");
  EXPECT_EQ(merge("a[l] = g\n barrier grid\n barrier workgroup\n z[g] = a[7 - l]").scopes, "g");
}

// The subgroup barrier orders a part only: what the workgroup barrier separates lies beyond it.
TEST(MergeBarriers, a_smaller_barrier_does_no_larger_ones_work) {
  EXPECT_EQ(
      merge("a[l] = g\n barrier subgroup\n b[l] = a[l ^ 1]\n barrier workgroup\n z[g] = a[7 - l]")
          .scopes,
      "sw");
  EXPECT_EQ(
      merge(
          "a[l] = g\n barrier workgroup\n b[l] = 1\n barrier subgroup\n z[g] = a[7 - l] + b[l ^ 1]")
          .scopes,
      "ws");
}

TEST(MergeBarriers, in_loops_and_ifs_what_lies_around_counts) {
  EXPECT_EQ(merge("for i in 0..m {\n a[l] = i\n barrier workgroup\n z[g] = a[7 - l]\n barrier "
                  "workgroup\n }")
                .scopes,
            "ww");
  EXPECT_EQ(merge("for i in 0..m {\n barrier workgroup\n barrier workgroup\n a[l] = i\n }").scopes,
            "w");
  EXPECT_EQ(merge("a[l] = 1\n if m > 3 { barrier workgroup }\n z[g] = a[7 - l]").scopes, "w");
  EXPECT_EQ(merge("a[l] = 1\n barrier workgroup\n if m > 3 { z[g] = a[7 - l] }").scopes, "w");
}

TEST(MergeBarriers, acq_rel_atomics_and_uniform_loads_are_not_crossed) {
  EXPECT_EQ(
      merge("a[l] = 1\n barrier workgroup\n if l == 0 { atomic_store(y[0], 1, acq_rel) }").scopes,
      "w");
  EXPECT_EQ(merge("a[l] = 1\n barrier workgroup\n let v = uniform_load(b[0])\n z[g] = v").scopes,
            "w");
}

// With the barrier, invocation 5 is reported; in one segment it would be invocation 0.
TEST(MergeBarriers, a_grid_barrier_decides_which_trap_is_reported) {
  const Outcome out = merge("assert(g != 5, 7)\n barrier grid\n assert(g != 0, 9)");
  EXPECT_EQ(out.scopes, "g");
  EXPECT_EQ(out.why, "it decides which trap is reported");
  EXPECT_EQ(merge("z[g] = 1\n barrier grid\n y[g] = 2").scopes, "");
}

}  // namespace
}  // namespace vyre::opt
