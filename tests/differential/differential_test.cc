// Runs 1,000 programs on all available configurations, and tests that injected flaws are found.

#include "differential/differential.h"

#include <gtest/gtest.h>

#include <set>

#include "generate/random.h"
#include "ir/ssa_builder.h"

namespace vyre::lab {
namespace {

class ThousandPrograms : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ThousandPrograms, give_the_same_bytes_everywhere) {
  const auto subjects = all_subjects();
  for (uint64_t seed = GetParam(); seed < GetParam() + 250; ++seed) {
    const Verdict v = compare(generate(seed), subjects);
    for (const Mismatch& m : v.mismatches)
      ADD_FAILURE() << "seed " << seed << ": " << m.what.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Lab, ThousandPrograms, ::testing::Values(30'000, 30'250, 30'500, 30'750));

/// One verdict with one subject.
Verdict with(const Generated& g, std::function<Result<Outputs>(const Generated&)> run) {
  return compare(g, {{"wrong", std::move(run)}});
}

/// k(out u32[4]) { out[global_id.x] = value; if trap: trap 7 }
Generated store_of(uint32_t value, bool trap = false) {
  SsaBuilder b("k");
  b.program.workgroup = {4, 1, 1};
  b.program.grid_dims = 1;
  b.program.grid[0] = b.program.formulas.constant(4);
  Buffer out;
  out.name = "y";
  out.role = Role::Out;
  out.element = Type::U32;
  out.count = b.program.formulas.constant(4);
  b.program.buffers.push_back(out);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {});
  b.effect(Opcode::Store, Type::U32, {i, b.constant_u32(value)},
           MemoryRef{.buffer = BufferId(0)}.pack());
  if (trap) b.trap(b.constant_u32(7));
  Generated g;
  g.module.kernels.push_back(b.finish());
  return g;
}

TEST(Differential, a_changed_constant_is_caught_in_most_programs) {
  // Also the measure of how much of a program matters to its outputs.
  int programs = 0, caught = 0;
  for (uint64_t seed = 500; seed < 700; ++seed) {
    const Generated g = generate(seed);
    Random random(seed);
    Generated changed = g;
    Program& p = changed.module.kernels[random.below(changed.module.kernels.size())];
    std::set<ValueId> counters;  // what loops count by: they would not end
    walk(p, [&](OpId op) {
      const Opcode code = p.op(op).code;
      if (code == Opcode::Sub || code == Opcode::Ne || code == Opcode::For)
        for (const ValueId v : p.operands(op)) counters.insert(v);
    });
    std::vector<OpId> constants;
    walk(p, [&](OpId op) {
      if (p.op(op).code == Opcode::Const && p.op(op).type == Type::U64 &&
          !counters.contains(p.result(op)))
        constants.push_back(op);
    });
    if (constants.empty()) continue;
    p.op(constants[random.below(constants.size())]).attr ^= 1;
    ++programs;
    caught += !with(g, [&](const Generated&) { return reference(changed); }).mismatches.empty();
  }
  EXPECT_GT(programs, 150);
  EXPECT_GT(caught * 100, programs * 60) << caught << " of " << programs;
}

TEST(Differential, a_mismatch_names_buffer_element_and_both_values) {
  const Verdict v = with(store_of(7), [](const Generated& g) {
    auto out = reference(g);
    out->buffers[0][2 * 4] = std::byte{9};
    return out;
  });
  ASSERT_EQ(v.mismatches.size(), 1u);
  EXPECT_EQ(v.mismatches[0].subject, "wrong");
  EXPECT_EQ(v.mismatches[0].what.code, Code::ResultDiffers);
  EXPECT_EQ(v.mismatches[0].what.message,
            "wrong: `y[2]`: expected 7 (0x00000007), got 9 (0x00000009); 1 of 4 elements differ");
}

TEST(Differential, a_trap_that_is_lost_or_invented_is_caught) {
  const auto lost =
      with(store_of(7, true), [](const Generated&) { return reference(store_of(7)); });
  ASSERT_EQ(lost.mismatches.size(), 1u);
  EXPECT_NE(lost.mismatches[0].what.message.find("code 7 in invocation (0, 0, 0), got no trap"),
            std::string::npos);
  const auto invented =
      with(store_of(7), [](const Generated&) { return reference(store_of(7, true)); });
  ASSERT_EQ(invented.mismatches.size(), 1u);
  EXPECT_TRUE(
      with(store_of(7, true), [](const Generated& g) { return reference(g); }).mismatches.empty());
}

TEST(Differential, a_buffer_of_another_length_is_caught) {
  const auto v = with(store_of(7), [](const Generated& g) {
    auto out = reference(g);
    out->buffers[0].pop_back();
    return out;
  });
  ASSERT_EQ(v.mismatches.size(), 1u);
  EXPECT_NE(v.mismatches[0].what.message.find("expected 16 bytes, got 15"), std::string::npos);
}

TEST(Differential, a_subject_that_fails_is_a_mismatch) {
  const auto v = with(store_of(7), [](const Generated&) -> Result<Outputs> {
    return diagnose(Code::OutOfMemory, {}, "no room");
  });
  ASSERT_EQ(v.mismatches.size(), 1u);
  EXPECT_EQ(v.mismatches[0].what.code, Code::SubjectFailed);
  EXPECT_NE(v.mismatches[0].what.message.find("no room"), std::string::npos);
}

TEST(Differential, a_round_trip_that_changes_the_program_keeps_its_code) {
  const auto v = with(store_of(7), [](const Generated&) -> Result<Outputs> {
    return diagnose(Code::RoundTripChanged, {}, "changed");
  });
  ASSERT_EQ(v.mismatches.size(), 1u);
  EXPECT_EQ(v.mismatches[0].what.code, Code::RoundTripChanged);
}

TEST(Differential, an_illegal_program_is_refused_before_anything_runs) {
  Generated g = store_of(7);
  g.module.kernels[0].workgroup[0] = 0;
  const auto v = with(g, [](const Generated&) -> Result<Outputs> {
    ADD_FAILURE() << "ran";
    return Outputs{};
  });
  ASSERT_EQ(v.mismatches.size(), 1u);
  EXPECT_EQ(v.mismatches[0].what.code, Code::GeneratedRejected);
  EXPECT_FALSE(v.expected);
}

TEST(Differential, a_race_shows_as_a_schedule_that_differs) {
  SsaBuilder b("k");
  b.program = store_of(7).module.kernels[0];
  Program& p = b.program;  // y[0] = global_id.x: the last one wins
  walk(p, [&](OpId op) {
    if (p.op(op).code == Opcode::Const) p.op(op).attr = 0;
  });
  const OpId store = p.op(p.blocks[body_block].last).prev;
  std::swap(p.list(p.op(store).operands)[0], p.list(p.op(store).operands)[1]);
  Generated g;
  g.module.kernels.push_back(p);
  EXPECT_FALSE(compare(g, all_subjects()).mismatches.empty());
}

TEST(Differential, a_program_that_observes_its_subgroup_is_compared_at_the_same_size) {
  uint64_t sizes_matter = 0, compared = 0;
  for (uint64_t seed = 0; seed < 200 && compared < 20; ++seed) {
    const Generated g = generate(seed);
    if (!g.observes_subgroup || g.fixed_subgroup() != 0) continue;
    ++compared;
    const auto a = reference(g, 8), b = reference(g, 64);
    ASSERT_TRUE(a && b);
    sizes_matter += !difference(g, *a, *b).empty();
    EXPECT_TRUE(compare(g, all_subjects()).mismatches.empty()) << "seed " << seed;
  }
  EXPECT_GT(sizes_matter, compared / 3);
}

TEST(Differential, the_list_has_three_schedules_at_four_sizes_and_both_round_trips) {
  std::set<std::string> names;
  for (const Subject& s : all_subjects()) EXPECT_TRUE(names.insert(s.name).second) << s.name;
  for (const char* schedule : {"order", "reverse", "random"})
    for (const char* size : {"8", "16", "32", "64"}) {
      const std::string name = std::string("interp:") + schedule + ":" + size;
      EXPECT_EQ(names.contains(name), name != "interp:order:32") << name;  // which is the reference
    }
  EXPECT_TRUE(names.contains("text"));
  EXPECT_TRUE(names.contains("wire"));
  EXPECT_TRUE(names.contains("sanitizer"));
}

}  // namespace
}  // namespace vyre::lab
