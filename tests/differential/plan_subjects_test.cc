// Random plans are legal, differ from the planner's, and are executed by devices.

#include "differential/plan_subjects.h"

#include <gtest/gtest.h>

#include "fuzz/fuzz.h"
#include "ir/graph_launch.h"
#include "plan/fusion/check_fusion.h"
#include "plan/memory/check_reuse.h"

namespace vyre::lab {
namespace {

std::vector<Generated> graphs(uint64_t first, size_t count) {
  GenerateOptions options;
  options.only_graphs = true;
  std::vector<Generated> list;
  for (uint64_t seed = first; list.size() < count; ++seed) list.push_back(generate(seed, options));
  return list;
}

TEST(PlanSubjects, every_program_is_a_graph_if_that_is_wanted) {
  for (const Generated& g : graphs(1, 200)) EXPECT_TRUE(g.is_graph()) << g.seed;
}

TEST(PlanSubjects, random_plans_are_legal_and_differ_from_the_planners) {
  uint32_t other_joins = 0, other_places = 0, shared = 0, cleared = 0, gaps = 0, alone = 0;
  for (const Generated& g : graphs(1, 300)) {
    const Graph& graph = g.module.graphs[0];
    const auto shape = resolve_graph(graph, g.inputs.data, g.inputs.lengths, 0);
    ASSERT_TRUE(shape) << g.seed;
    const auto usual = plan::plan_graph(g.module, graph, *shape);
    const auto random = random_plan(g.module, graph, *shape, g.seed);
    ASSERT_TRUE(usual && random) << g.seed;
    const plan::ReusePlan& r = random->plan.reuse;
    EXPECT_TRUE(plan::check_fusion(g.module, graph, *shape, random->plan.fusion)) << g.seed;
    EXPECT_TRUE(plan::check_reuse(random->arms, r)) << g.seed;
    other_joins += usual->plan.fusion.groups.size() != random->plan.fusion.groups.size();
    other_places += usual->plan.reuse.placement != r.placement;
    shared += r.after < r.before;
    gaps += r.after > r.before;
    cleared += !r.clears.empty();
    alone += r.slot_bytes.empty() && !usual->plan.reuse.slot_bytes.empty();
  }
  for (const uint32_t n : {other_joins, other_places, gaps, alone}) EXPECT_GT(n, 10u);
  EXPECT_GT(shared, 2u);
  EXPECT_GT(cleared, 2u);
  RecordProperty("shared", int(shared));
  RecordProperty("cleared", int(cleared));
}

TEST(PlanSubjects, the_interpreters_device_obeys_random_plans) {
  FuzzOptions options;
  options.seed = 5'000'000;
  options.count = 250;
  options.generate.only_graphs = true;
  options.subjects = {"plan:random:interp", "plan:fused", "plan:random"};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  for (const Finding& f : summary->findings) ADD_FAILURE() << f.what.message;
  EXPECT_EQ(summary->status.runs, 750u);
}

TEST(PlanSubjects, a_finding_in_a_graph_can_be_replayed) {
  Subject wrong;
  wrong.name = "wrong";
  wrong.run = [](const Generated& g) {
    return Result<Outputs>(Outputs{{}, g.module.graphs[0].name, ""});
  };
  FuzzOptions options;
  options.seed = 3;
  options.count = 1;
  options.generate.only_graphs = true;
  options.subjects = {"text"};
  options.more = {wrong};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->findings.size(), 1u);
  EXPECT_EQ(summary->findings[0].what.fix,
            "replay it: `vyre fuzz --backends 'wrong' --graphs --seed 3 --count 1`");
}

}  // namespace
}  // namespace vyre::lab
