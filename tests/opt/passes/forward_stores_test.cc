#include "opt/passes/forward_stores.h"

#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

/// Loads of y that are left in a kernel with this body.
struct Outcome {
  size_t loads = 0;
  std::string why;
};
Outcome forward(const std::string& body, const std::string& element = "u32") {
  const Program before = program_of("kernel k(x: in " + element + "[], n: u32, y: inout " +
                                    element + "[], z: out " + element +
                                    "[len(y)]) workgroup(4) grid(16) {\n"
                                    "let g = global_id.x\n" +
                                    body + "\n}\n");
  const PassResult r = run_pass(forward_stores, before);
  expect_same_results(before, r.program);
  Outcome out;
  walk(r.program, [&](OpId op) {
    out.loads += r.program.op(op).code == Opcode::Load && r.program.buffer_of(op).name != "x";
  });
  if (!r.refusals.empty()) out.why = r.refusals[0].why;
  return out;
}

TEST(ForwardStores, gives_the_stored_value_to_a_load_in_bounds) {
  EXPECT_EQ(forward("if g < len(y) {\n y[g] = x[g]\n z[g] = y[g] + y[g]\n}").loads, 0u);
}

TEST(ForwardStores, into_the_arms_of_an_if) {
  EXPECT_EQ(
      forward(
          "if g < len(y) {\n y[g] = x[g]\n if n > 3 { z[g] = y[g] } else { z[g] = y[g] + 1 }\n}")
          .loads,
      0u);
}

// A store out of bounds is dropped, and the load gives 0: a `select` decides. forward() compares
// the results with those of the program as it was, also where indices are out of bounds.
TEST(ForwardStores, selects_zero_where_the_store_may_be_out_of_bounds) {
  EXPECT_EQ(forward("y[g] = x[g] + 1\n z[0] = 5\n if g == 9 { z[1] = y[g] }\n").loads, 0u);
  EXPECT_EQ(forward("let j = g * 2\n y[j] = x[g] + 1\n z[g] = y[j]\n").loads, 0u);
  EXPECT_EQ(forward("let j = i32(g) - 5\n y[j] = x[g] + 1\n z[g] = y[j]\n").loads, 0u);
  EXPECT_EQ(forward("let j = i64(g) - 5i64\n y[j] = x[g] + 1\n z[g] = y[j]\n").loads, 0u);
  EXPECT_EQ(
      forward("let j = u64(g) * 1152921504606846976u64\n y[j] = x[g] + 1\n z[g] = y[j]\n").loads,
      0u);
  EXPECT_EQ(forward("let j = u8(g * 50)\n y[j] = 7\n if g < 2 { z[g] = y[j] }\n").loads, 0u);
}

TEST(ForwardStores, not_past_a_store_that_may_be_to_the_same_place) {
  EXPECT_EQ(
      forward("if g < len(y) {\n if n == g {\n y[g] = 1\n y[n] = 2\n z[g] = y[g]\n}\n}").loads, 1u);
  EXPECT_EQ(forward("if g < len(y) {\n y[g] = 1\n if g == 3 { y[n] = 2 }\n z[g] = 0\n if g == 3 { "
                    "z[g] = y[g] }\n}")
                .loads,
            1u);
}

// Of a constant distance, so never the same place. One invocation, so that there is no race.
TEST(ForwardStores, past_stores_to_other_places) {
  EXPECT_EQ(forward("if g == 2 {\n let j = n\n if j < len(y) {\n y[j] = 7\n y[j + 1] = 8\n y[j - "
                    "2] = 9\n z[j] = y[j]\n}\n}")
                .loads,
            0u);
  EXPECT_EQ(forward("if g == 2 {\n let j = n\n if j < len(y) {\n y[j] = 7\n y[u64(j + 1) - 1] = "
                    "8\n z[j] = y[j]\n}\n}")
                .loads,
            1u);
  EXPECT_EQ(forward("if g == 2 {\n let j = n\n if j < len(y) {\n y[j] = 7\n y[j * 2 - j] = 8\n "
                    "z[j] = y[j]\n}\n}")
                .loads,
            1u);
}

TEST(ForwardStores, not_into_or_out_of_a_loop) {
  EXPECT_EQ(forward("if g < len(y) {\n y[g] = 1\n for i in 0..n {\n z[g] = y[g]\n y[g] = i\n }\n "
                    "z[g] = y[g]\n}")
                .loads,
            2u);
}

TEST(ForwardStores, not_past_a_barrier_or_an_atomic) {
  EXPECT_EQ(forward("let i = local_id.x\n if i < len(y) { y[i] = 1 }\n var w: u32[4]\n w[i] = 5\n "
                    "barrier workgroup\n if g < 4 { if i < len(y) { z[i] = y[i] + w[i] } }\n")
                .loads,
            1u);
  const Program p = program_of(R"(kernel k(y: inout u32[8]) workgroup(1) grid(1) {
    let i = local_id.x
    y[i] = 1
    atomic_add(y[i], 5)
    y[1] = y[i]
  })");
  EXPECT_EQ(count(run_pass(forward_stores, p).program, Opcode::Load), 1u);
}

TEST(ForwardStores, not_where_the_element_rounds) {
  const Program p =
      program_of(R"(kernel k(x: in f32[], y: inout f16[8], z: out f32[8]) workgroup(1) grid(1) {
    let i = local_id.x
    y[i] = x[i]
    z[i] = y[i]
  })");
  const PassResult r = run_pass(forward_stores, p);
  EXPECT_FALSE(r.changed);
  ASSERT_EQ(r.refusals.size(), 1u);
  EXPECT_EQ(r.refusals[0].why, "the element rounds what is stored");
}

}  // namespace
}  // namespace vyre::opt
