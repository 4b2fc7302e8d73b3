// The generator keeps its promises.

#include "generate/generate.h"

#include <gtest/gtest.h>

#include "check/check.h"
#include "fuzz/coverage.h"
#include "text/print.h"
#include "wire/wire.h"

namespace vyre::lab {
namespace {

bool same(const LaunchInputs& a, const LaunchInputs& b) {
  return a.data == b.data && a.lengths == b.lengths && a.grid == b.grid;
}

TEST(Generate, the_same_seed_gives_the_same_program_and_inputs) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Generated a = generate(seed), b = generate(seed);
    ASSERT_EQ(encode(a.module), encode(b.module)) << "seed " << seed;
    ASSERT_TRUE(same(a.inputs, b.inputs)) << "seed " << seed;
  }
}

TEST(Generate, neighbouring_seeds_give_different_programs) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_NE(encode(generate(seed).module), encode(generate(seed + 1).module)) << "seed " << seed;
}

TEST(Generate, the_checker_accepts_every_program) {
  for (uint64_t seed = 10'000; seed < 12'000; ++seed) {
    const Generated g = generate(seed);
    for (const Diagnostic& d : check(g.module))
      ASSERT_NE(d.severity, Severity::Error) << "seed " << seed << ": " << d.message << "\n"
                                             << print(g.module);
  }
}

TEST(Generate, extreme_seeds_work) {
  for (const uint64_t seed : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{0x9e3779b97f4a7c15}})
    EXPECT_FALSE(has_errors(check(generate(seed).module))) << "seed " << seed;
}

/// Programs of 300 seeds that have a feature.
uint64_t with(std::string_view feature, const GenerateOptions& options) {
  Coverage coverage;
  for (uint64_t seed = 0; seed < 300; ++seed) coverage.add(generate(seed, options));
  const auto it = coverage.features().find(feature);
  return it == coverage.features().end() ? 0 : it->second;
}

TEST(Generate, leaves_out_what_the_options_forbid) {
  EXPECT_EQ(with("graph", {.graphs = false}), 0u);
  EXPECT_EQ(with("subgroup op", {.subgroups = false}), 0u);
  EXPECT_EQ(with("grid barrier", {.grid_barriers = false}), 0u);
  EXPECT_EQ(with("trap or assert", {.traps = false}), 0u);
}

TEST(Generate, says_whether_a_program_observes_its_subgroup) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Generated g = generate(seed);
    const std::string text = print(g.module);
    const bool seen = text.find("subgroup_") != text.npos || text.find("lane_id") != text.npos;
    EXPECT_EQ(g.observes_subgroup, seen) << "seed " << seed;
  }
}

}  // namespace
}  // namespace vyre::lab
