// Plans that are broken on purpose, each by one change of a good one.

#include <functional>

#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {
namespace {

const std::string text = R"(
kernel scale(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] * 3 }
kernel blur(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + x[global_id.x + 1]
}
kernel wide(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) { y[global_id.x] = x[global_id.x] }
kernel trap1(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 1, 1)
  y[global_id.x] = x[global_id.x]
}
graph g(x: in u32[], y: out u32[len(x)], z: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  buffer d: u32[len(x)]
  call scale(x, a)
  call scale(a, b)
  call blur(b, c)
  call wide(c, d)
  call trap1(d, y)
  call trap1(c, z)
  repeat 2 {
    call scale(a, b)
    call scale(b, c)
  }
  call scale(c, z)
}
)";

struct Wrong {
  Code code;
  std::function<void(FusionPlan&)> change;
};

FusionPlan apart(const GraphText& t) {
  FusionPlan plan;
  const GraphSteps steps = flatten(t.graph());
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (steps[i].is_call()) plan.groups.push_back({{i}, {}, {}, 0});
  return plan;
}

/// Puts the groups [first, last] of a plan with one call each together.
void join(FusionPlan& plan, size_t first, size_t last, JoinKind kind,
          std::vector<GraphBufferId> elided = {}) {
  FusionGroup group;
  for (size_t i = first; i <= last; ++i) group.calls.push_back(plan.groups[i].calls[0]);
  group.joins.assign(last - first, kind);
  group.elided = std::move(elided);
  plan.groups[first] = group;
  plan.groups.erase(plan.groups.begin() + std::ptrdiff_t(first) + 1,
                    plan.groups.begin() + std::ptrdiff_t(last) + 1);
}

TEST(CheckFusion, refuses_each_broken_plan_with_its_code) {
  GraphText t(text);
  t.set("x", std::vector<uint32_t>(100, 5));
  const GraphBufferId a = t.find("a"), b = t.find("b"), y = t.find("y");
  const JoinKind same = JoinKind::SameInvocation;
  const std::pair<const char*, Wrong> list[] = {
      // V0871
      {"a call is missing", {Code::FusionPlanBroken, [](FusionPlan& p) { p.groups.pop_back(); }}},
      {"a call is there twice",
       {Code::FusionPlanBroken, [](FusionPlan& p) { p.groups[1].calls[0] = 0; }}},
      {"the order is another",
       {Code::FusionPlanBroken, [](FusionPlan& p) { std::swap(p.groups[0], p.groups[1]); }}},
      {"a node does not exist",
       {Code::FusionPlanBroken, [](FusionPlan& p) { p.groups[0].calls[0] = 1000; }}},
      {"a node is a loop",
       {Code::FusionPlanBroken, [](FusionPlan& p) { p.groups[6].calls[0] = 6; }}},
      {"a join is missing",
       {Code::FusionPlanBroken,
        [&](FusionPlan& p) {
          join(p, 0, 1, same);
          p.groups[0].joins.clear();
        }}},
      {"a join of no kind",
       {Code::FusionPlanBroken, [&](FusionPlan& p) { join(p, 0, 1, JoinKind(9)); }}},
      {"an empty group", {Code::FusionPlanBroken, [](FusionPlan& p) { p.groups.push_back({}); }}},
      {"a buffer that is not there",
       {Code::FusionPlanBroken, [&](FusionPlan& p) { join(p, 0, 1, same, {GraphBufferId(77)}); }}},
      // V0872
      {"over a loop's begin",
       {Code::FusionAcrossLoop, [&](FusionPlan& p) { join(p, 5, 6, same); }}},
      {"over a loop's end", {Code::FusionAcrossLoop, [&](FusionPlan& p) { join(p, 7, 8, same); }}},
      // V0873
      {"other workgroups",
       {Code::FusionLaunchDiffers, [&](FusionPlan& p) { join(p, 2, 3, same); }}},
      // V0874
      {"a neighbour's element",
       {Code::FusionDependence, [&](FusionPlan& p) { join(p, 1, 2, same); }}},
      {"the same, said to be independent",
       {Code::FusionDependence, [&](FusionPlan& p) { join(p, 1, 2, JoinKind::Independent); }}},
      // V0875
      {"a is needed by the loop",
       {Code::FusionBufferNeeded, [&](FusionPlan& p) { join(p, 0, 1, same, {a}); }}},
      {"b is needed by blur",
       {Code::FusionBufferNeeded, [&](FusionPlan& p) { join(p, 0, 1, same, {b}); }}},
      {"y is the host's",
       {Code::FusionBufferNeeded, [&](FusionPlan& p) { join(p, 0, 1, same, {y}); }}},
      {"alone", {Code::FusionBufferNeeded, [&](FusionPlan& p) { p.groups[0].elided = {a}; }}},
      // V0876
      {"two that trap", {Code::FusionTraps, [&](FusionPlan& p) { join(p, 4, 5, same); }}},
      // V0877
      {"computing what is needed later",
       {Code::FusionJoinKind, [&](FusionPlan& p) { join(p, 0, 1, JoinKind::Recompute); }}},
      {"nothing handed over",
       {Code::FusionJoinKind, [&](FusionPlan& p) { join(p, 2, 3, JoinKind::Recompute); }}},
  };
  const FusionPlan good = apart(t);
  ASSERT_TRUE(check_fusion(t.module, t.graph(), t.shape(), good));
  for (const auto& [what, wrong] : list) {
    FusionPlan plan = good;
    wrong.change(plan);
    const Result<> checked = check_fusion(t.module, t.graph(), t.shape(), plan);
    ASSERT_FALSE(checked) << what;
    EXPECT_EQ(checked.errors()[0].code, wrong.code) << what << ": " << checked.errors()[0].message;
    const auto fused = fuse_graph(t.module, t.graph(), t.shape(), plan);
    EXPECT_FALSE(fused) << what;
  }
  // V0878
  FusionPlan plan = good;
  join(plan, 0, 1, same);
  EXPECT_TRUE(check_fusion(t.module, t.graph(), t.shape(), plan));
  FusionOptions options;
  options.most_calls = 1;
  const Result<> checked = check_fusion(t.module, t.graph(), t.shape(), plan, options);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.errors()[0].code, Code::FusionTooLarge);
}

TEST(CheckFusion, accepts_what_the_loop_overwrites_first) {
  GraphText t(text);
  t.set("x", std::vector<uint32_t>(100, 5));
  FusionPlan plan = apart(t);
  join(plan, 6, 7, JoinKind::SameInvocation, {t.find("b")});
  EXPECT_TRUE(check_fusion(t.module, t.graph(), t.shape(), plan));
  same_fused(t, plan);
}

TEST(CheckFusion, a_plan_for_other_lengths_is_refused) {
  const std::string two = R"(
kernel a(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] }
graph g(x: in u32[], z: in u32[], y: out u32[len(x)], w: out u32[len(z)]) {
  call a(x, y)
  call a(z, w)
}
)";
  GraphText equal(two), other(two);
  equal.set("x", std::vector<uint32_t>(100, 5)).set("z", std::vector<uint32_t>(120, 5));
  other.set("x", std::vector<uint32_t>(100, 5)).set("z", std::vector<uint32_t>(130, 5));
  const FusionPlan plan = equal.plan();
  ASSERT_EQ(describe(equal, plan), "a +independent a\n");
  const auto fused = fuse_graph(other.module, other.graph(), other.shape(), plan);
  ASSERT_FALSE(fused);
  EXPECT_EQ(fused.errors()[0].code, Code::FusionLaunchDiffers);
}

}  // namespace
}  // namespace vyre::plan
