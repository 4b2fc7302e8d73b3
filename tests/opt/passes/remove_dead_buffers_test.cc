#include "opt/passes/remove_dead_buffers.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

/// Names of the buffers that are left.
std::string left(const std::string& text) {
  const Program before = program_of(text);
  const PassResult r = run_pass(remove_dead_buffers, before);
  std::string names;
  for (const Buffer& b : r.program.buffers) names += (names.empty() ? "" : " ") + b.name;
  return names;
}

TEST(RemoveDeadBuffers, that_nobody_reads_with_the_stores_into_them) {
  const std::string text = R"(
  const unused: u8[3] = [1, 2, 3]
  const used: u8[3] = [4, 5, 6]
  kernel k(x: in u32[], y: out u32[len(x)], s: scratch u32[len(x)]) workgroup(4) grid(len(x)) {
    shared t: u32[4]
    shared kept: u32[4]
    var w: u32[4]
    let g = global_id.x
    s[g] = 1
    t[g % 4] = 2
    w[g % 4] = 3
    kept[local_id.x] = g
    barrier workgroup
    y[g] = x[g] + kept[0] + u32(used[1])
  })";
  EXPECT_EQ(left(text), "x y kept used");
  const Program before = program_of(text);
  const Program after = run_pass(remove_dead_buffers, before).program;
  EXPECT_EQ(count(after, Opcode::Store), 2u);
  // Outputs are by buffer, and x and y are the first before and after.
  expect_same_results(before, after);
}

TEST(RemoveDeadBuffers, atomics_whose_value_is_used_keep_theirs) {
  EXPECT_EQ(left(R"(kernel k(y: out u32[4]) workgroup(4) grid(4) {
    shared counted: u32[1]
    shared asked: u32[1]
    atomic_add(counted[0], 1)
    let old = atomic_add(asked[0], 1)
    if old < 4 { y[0] = 4 }
  })"),
            "y asked");
  EXPECT_EQ(left(R"(kernel k(y: out u32[4]) workgroup(4) grid(4) {
    shared flag: u32[1]
    atomic_store(flag[0], 1, acq_rel)
    y[0] = 4
  })"),
            "y flag");
}

TEST(RemoveDeadBuffers, what_the_host_knows_stays) {
  EXPECT_EQ(
      left(
          R"(kernel k(a: in u32[], n: u32, b: inout u32[], s: scratch u32[4], t: scratch u32[], u: uniform u32[4], y: out u32[4])
    workgroup(4) grid(4) {
    s[0] = 1
    t[0] = 1
    b[0] = 2
  })"),
      "a n b s t u y");
}

// The launch fails if n is 0, and goes on doing so.
TEST(RemoveDeadBuffers, scratch_memory_whose_formula_may_fail_stays) {
  EXPECT_EQ(left("kernel k(n: u32, y: out u32[4], s: scratch u32[8 / n]) workgroup(4) grid(4) { "
                 "s[0] = 1 }"),
            "n y s");
  EXPECT_EQ(
      left("kernel k(n: u32, y: out u32[4], s: scratch u32[8]) workgroup(4) grid(4) { s[0] = 1 }"),
      "n y");
  EXPECT_EQ(left("kernel k(n: u32, y: out u32[4], s: scratch u32[8]) workgroup(4) grid(4) { y[0] = "
                 "len(s) }"),
            "n y s");
}

}  // namespace
}  // namespace vyre::opt
