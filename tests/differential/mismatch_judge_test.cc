// Which differences are mismatches, and that a reduction keeps the kind of mismatch.

#include "differential/mismatch_judge.h"

#include <gtest/gtest.h>

#include "differential/reduce_mismatch.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre::lab {
namespace {

Generated program(const std::string& text) {
  Generated g;
  ParseOutcome parsed = parse(text, {});
  EXPECT_TRUE(parsed.module) << text;
  g.module = std::move(*parsed.module);
  const size_t buffers =
      g.is_graph() ? g.module.graphs[0].buffers.size() : g.module.kernels[0].buffers.size();
  g.inputs.data.resize(buffers);
  g.inputs.lengths.resize(buffers);
  g.observes_subgroup = observes_subgroup(g.module);
  return g;
}

/// The interpreter, on a program that `change` has changed.
Subject changed(std::string name, void (*change)(Program&)) {
  return {std::move(name), [change](const Generated& g) {
            Generated other = g;
            for (Program& p : other.module.kernels) change(p);
            return reference(other);
          }};
}

void add_to_sub(Program& p) {
  for (Op& o : p.ops)
    if (o.code == Opcode::Add) o.code = Opcode::Sub;
}

const ConfigurationPair adds{reference_subject(), changed("adds", add_to_sub)};

TEST(Judge, other_bytes_are_a_mismatch_and_equal_ones_are_not) {
  const auto found = judge(adds, program("kernel k(y: out u32[4]) workgroup(4) grid(4) {\n"
                                         "  y[global_id.x] = global_id.x + 1\n}"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "bytes");
  EXPECT_EQ(found->what.code, Code::ResultDiffers);
  EXPECT_GT(found->lane_ops, 0u);
  const auto none =
      judge(adds, program("kernel k(y: out u32[4]) workgroup(4) grid(4) { y[global_id.x] = 1 }"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.errors()[0].code, Code::NothingDiffers);
}

TEST(Judge, a_trap_is_another_kind_than_bytes) {
  const auto found = judge(adds, program("kernel k(y: out u32[4]) workgroup(1) grid(1) {\n"
                                         "  let n = y[0] + 1\n  assert(n == 1, 7)\n}"));
  ASSERT_TRUE(found);
  EXPECT_NE(found->kind, "bytes");
  const Disagreement bytes{"bytes", {}};
  const auto other = judge(adds,
                           program("kernel k(y: out u32[4]) workgroup(1) grid(1) {\n"
                                   "  let n = y[0] + 1\n  assert(n == 1, 7)\n}"),
                           &bytes);
  EXPECT_FALSE(other);
}

TEST(Judge, results_that_the_specification_leaves_open_are_not_mismatches) {
  // Two invocations write one element; the old value of an atomic; stores in no order.
  for (const char* body : {"y[0] = global_id.x + 1", "y[global_id.x] = atomic_add(y[3], 1) + 5",
                           "atomic_exchange(y[0], global_id.x + 1)"}) {
    const auto found = judge(
        adds,
        program(std::string("kernel k(y: out u32[4]) workgroup(3) grid(3) { ") + body + " }"));
    ASSERT_FALSE(found) << body;
    EXPECT_EQ(found.errors()[0].code, Code::ResultNotDefined) << body;
  }
}

TEST(Judge, an_endless_program_is_an_error) {
  Generated g = program("kernel k(y: out u32[4]) workgroup(1) grid(1) { while true { y[0] = 1 } }");
  g.limits.lane_ops = 10'000;
  const auto found = judge(adds, g);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.errors()[0].code, Code::TimeLimitExceeded);
}

/// Wrong where it can be: any output that is not zero.
Subject wrong_outputs() {
  return {"wrong", [](const Generated& g) -> Result<Outputs> {
            auto out = reference(g);
            if (out)
              for (auto& bytes : out->buffers)
                for (std::byte& b : bytes)
                  if (b != std::byte{0}) b ^= std::byte{1};
            return out;
          }};
}

TEST(ReduceMismatch, does_not_slip_into_a_race) {
  // Every race between values that are not zero would be a mismatch, too.
  const ConfigurationPair pair{reference_subject(), wrong_outputs()};
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const Generated g = generate(seed);
    if (!judge(pair, g)) continue;
    const auto reduced = reduce_mismatch(g, pair, {});
    ASSERT_TRUE(reduced) << seed;
    EXPECT_FALSE(unspecified_result(reduced->program)) << text_test(*reduced);
    EXPECT_LE(reduced->outcome.progress.ops, 5u) << text_test(*reduced);
  }
}

TEST(ReduceMismatch, keeps_a_trap_a_trap) {
  // Bytes and traps differ; what is kept is the trap.
  Generated g = program(
      "kernel k(y: out u32[8]) workgroup(8) grid(8) {\n  let n = y[8] + 1\n"
      "  for i in 0..3 { y[global_id.x] = n * i + global_id.x }\n"
      "  assert(n == 1, 7)\n}");
  const auto reduced = reduce_mismatch(g, adds, {});
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->disagreement.kind, "; `adds` traps");
  EXPECT_NE(text_test(*reduced).find("assert"), std::string::npos) << text_test(*reduced);
  EXPECT_LE(reduced->outcome.progress.ops, 6u) << text_test(*reduced);
}

TEST(ReduceMismatch, a_loop_that_a_wrong_pass_makes_endless_is_reduced) {
  Generated g = program(
      "kernel k(y: out u32[8]) workgroup(8) grid(8) {\n  var n: u32 = 0\n"
      "  while n < 100 { n += 1\n y[global_id.x] = n }\n}");
  // `n += 1` becomes `n -= 1`, which soon ends; `n & 1` never does.
  const ConfigurationPair pair{reference_subject(), changed("endless", [](Program& p) {
                                 for (Op& o : p.ops)
                                   if (o.code == Opcode::Add) o.code = Opcode::And;
                               })};
  g.limits.lane_ops = 1'000'000;
  const auto reduced = reduce_mismatch(g, pair, {});
  ASSERT_TRUE(reduced) << reduced.errors()[0].message;
  EXPECT_NE(reduced->disagreement.kind.find("V0502"), std::string::npos);
  EXPECT_LE(reduced->outcome.progress.ops, 8u) << text_test(*reduced);
}

TEST(ReduceMismatch, a_pair_that_agrees_is_not_reduced) {
  const auto reduced = reduce_mismatch(
      program("kernel k(y: out u32[4]) workgroup(4) grid(4) { y[global_id.x] = 1 }"), adds, {});
  ASSERT_FALSE(reduced);
  EXPECT_EQ(reduced.errors()[0].code, Code::NothingDiffers);
}

}  // namespace
}  // namespace vyre::lab
