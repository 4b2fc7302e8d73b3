// Random programs with grid barriers, whole and split. The generator of src/fuzz makes programs of
// all kinds; the one below generates mostly control flow around barriers.

#include "generate/generate.h"
#include "tests/plan/split/split_control_util.h"
#include "tests/plan/split/split_util.h"

namespace vyre::plan {
namespace {

bool same_on_all_schedules(const Program& p, const LaunchInputs& inputs) {
  const SplitPlan plan = split(p);
  if (!::testing::Test::HasFailure()) same_split(p, plan, inputs);
  return !::testing::Test::HasFailure();
}

TEST(SplitRandom, programs_of_the_lab_run_split_as_they_run_whole) {
  lab::GenerateOptions options;
  options.graphs = false;
  int found = 0;
  for (uint64_t seed = 1; found < 2000; ++seed) {
    ASSERT_LT(seed, 200'000u) << "the generator makes too few grid barriers";
    const lab::Generated g = lab::generate(seed, options);
    const Program& p = g.module.kernels[0];
    if (!has_grid_barrier(p)) continue;
    ++found;
    ASSERT_TRUE(same_on_all_schedules(p, g.inputs)) << "seed " << seed << "\n" << print(p);
  }
}

TEST(SplitRandom, control_around_barriers) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const std::string text = random_control(seed);
    const Program p = kernel(text);
    ASSERT_FALSE(HasFailure()) << text;
    Inputs inputs(p);
    std::vector<uint32_t> x(40);
    for (uint32_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<uint32_t>((seed * 7919 + i * 104729) % 6);
    inputs.set("x", x).set("n", std::vector<uint32_t>{static_cast<uint32_t>(seed % 5)});
    ASSERT_TRUE(same_on_all_schedules(p, inputs.inputs)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace vyre::plan
