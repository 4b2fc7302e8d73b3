// Random graphs unfused, as planned, and with a random subset of the fusions.

#include <map>

#include "differential/plan_subjects.h"
#include "generate/chain_writer.h"
#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {
namespace {

struct Found {
  uint32_t graphs = 0, joined = 0;
  std::map<JoinKind, uint32_t> kinds;
};

void compare(const lab::Generated& g, Found& found) {
  const Graph& graph = g.module.graphs[0];
  const auto shape = resolve_graph(graph, g.inputs.data, g.inputs.lengths, 0);
  ASSERT_TRUE(shape);
  const Result<lab::Outputs> expected = lab::reference(g);
  ASSERT_TRUE(expected) << render(expected.errors(), {});
  ++found.graphs;
  for (const bool random : {false, true}) {
    const FusionPlan plan = random ? lab::random_fusion(g.module, graph, *shape, g.seed)
                                   : plan_fusion(g.module, graph, *shape);
    const auto fused = fuse_graph(g.module, graph, *shape, plan);
    ASSERT_TRUE(fused) << render(fused.errors(), {}) << print(g.module);
    size_t calls = 0;
    for (const FusedCall& c : fused->origin) calls += !c.calls.empty();
    ASSERT_EQ(calls, plan.groups.size()) << "a group was not made\n" << print(g.module);
    for (const FusionRefusal& r : plan.refusals)
      ASSERT_EQ(r.why.find("not confirmed"), std::string::npos) << r.why << print(g.module);
    if (!random) found.joined += plan.avoided_launches > 0;
    for (const FusionGroup& group : plan.groups)
      for (const JoinKind k : group.joins) ++found.kinds[k];
    for (const auto schedule : {interp::Schedule::Order, interp::Schedule::Random}) {
      interp::Options options;
      options.schedule = schedule;
      options.seed = g.seed;
      const Result<lab::Outputs> got = lab::run_fused(g, *shape, plan, options);
      ASSERT_TRUE(got) << render(got.errors(), {}) << print(fused->module);
      ASSERT_EQ(difference(g, *expected, *got), "") << print(g.module) << print(fused->module);
    }
  }
}

TEST(FuseRandom, chains_give_the_same_fused) {
  Found found;
  for (uint64_t seed = 1; seed <= 1500 && !HasFatalFailure(); ++seed) {
    lab::Random random(seed);
    lab::Generated g = lab::ChainWriter(random, {}).write();
    ASSERT_FALSE(g.module.graphs.empty()) << "seed " << seed;
    g.seed = seed;
    const Diagnostics checked = check(g.module);
    ASSERT_FALSE(has_errors(checked)) << render(checked, {}) << print(g.module);
    compare(g, found);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(found.joined, found.graphs / 2);
  for (const JoinKind k :
       {JoinKind::Independent, JoinKind::SameInvocation, JoinKind::Recompute, JoinKind::Handoff})
    EXPECT_GT(found.kinds[k], 50u) << name(k);
}

TEST(FuseRandom, graphs_of_the_lab_give_the_same_fused) {
  Found found;
  for (uint64_t seed = 1; found.graphs < 1000; ++seed) {
    const lab::Generated g = lab::generate(seed);
    if (!g.is_graph() || (g.observes_subgroup && g.fixed_subgroup() == 0)) continue;
    compare(g, found);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(found.joined, found.graphs / 3);
}

}  // namespace
}  // namespace vyre::plan
