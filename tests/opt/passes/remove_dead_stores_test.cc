#include "opt/passes/remove_dead_stores.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

/// Stores that are left.
size_t stores(const std::string& body) {
  const Program before = program_of(
      "kernel k(x: in u32[], n: u32, y: inout u32[], z: out u32[len(y)]) workgroup(4) grid(16) {\n"
      "shared t: u32[4]\nvar w: u32[4]\nlet g = global_id.x\n" +
      body + "\n}\n");
  const PassResult r = run_pass(remove_dead_stores, before);
  expect_same_results(before, r.program);
  return count(r.program, Opcode::Store);
}

TEST(RemoveDeadStores, that_are_overwritten_whether_in_bounds_or_not) {
  EXPECT_EQ(stores("y[g] = 1\n y[g] = 2\n y[g] = 3"), 1u);
  EXPECT_EQ(stores("y[g] = 1\n z[g] = 5\n let v = x[g]\n y[g] = v"), 2u);
}

TEST(RemoveDeadStores, not_what_is_read_between) {
  EXPECT_EQ(stores("y[g] = 1\n z[g] = y[g]\n y[g] = 2"), 3u);
  EXPECT_EQ(stores("y[g] = 1\n if n > 3 { z[g] = y[g] }\n y[g] = 2"), 3u);
}

// The same name, another number.
TEST(RemoveDeadStores, not_to_an_index_that_was_changed_between) {
  EXPECT_EQ(stores("var i = g\n y[i] = 1\n i += 16\n y[i] = 2"), 2u);
  EXPECT_EQ(stores("var i = g * 4\n for k in 0..4 { y[i] = k\n i += 1\n }"), 1u);
  EXPECT_EQ(stores("var i = g\n y[i] = 1\n if n > 3 { i += 16 }\n y[i] = 2"), 2u);
}

TEST(RemoveDeadStores, not_across_what_leaves_or_lets_others_look) {
  EXPECT_EQ(stores("y[g] = 1\n if n > 3 { return }\n y[g] = 2"), 2u);
  EXPECT_EQ(stores("for i in 0..n {\n y[g] = 1\n if i == 2 { break }\n y[g] = 2\n }"), 2u);
  EXPECT_EQ(stores("t[local_id.x] = 1\n barrier workgroup\n t[local_id.x] = 2\n z[g] = t[0]"), 3u);
  const Program p = program_of(R"(kernel k(y: inout u32[8], f: inout u32[1]) workgroup(1) grid(1) {
    y[0] = 1
    atomic_store(f[0], 1, acq_rel)
    y[0] = 2
  })");
  EXPECT_FALSE(run_pass(remove_dead_stores, p).changed);
}

TEST(RemoveDeadStores, not_what_an_atomic_adds_to) {
  const Program p = program_of(R"(kernel k(y: inout u32[8]) workgroup(1) grid(1) {
    let i = global_id.x
    y[i] = 1
    atomic_add(y[i], 5)
    y[i] = 2
  })");
  EXPECT_FALSE(run_pass(remove_dead_stores, p).changed);
}

// Invocation 5 traps, the others go on; what they see decides whether they trap as well, and the
// lowest that does is reported.
TEST(RemoveDeadStores, not_across_a_trap_if_others_can_see_the_store) {
  EXPECT_EQ(
      stores("let l = local_id.x\n if l == 3 {\n t[0] = 1\n assert(n > 300, 7)\n t[0] = 2\n }\n"
             "barrier workgroup\n assert(t[0] == 1, 9)\n z[g] = 1"),
      3u);
  EXPECT_EQ(stores("w[g % 4] = 1\n z[0] = 1\n assert(n < 300, 7)\n z[1] = w[1]"), 3u);
  EXPECT_EQ(stores("let j = g % 4\n w[j] = 1\n assert(n < 100, 7)\n w[j] = 2\n z[g] = w[1]"), 2u);
}

}  // namespace
}  // namespace vyre::opt
