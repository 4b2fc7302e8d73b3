// The planner: costs, speed, and unrealistic inputs.

#include <fmt/format.h>

#include "generate/chain_writer.h"
#include "plan/fusion/fusion_group.h"
#include "plan/fusion/fusion_plan_parts.h"
#include "tests/plan/fusion/fuse_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::plan {
namespace {

/// Cost of a plan's groups, by the model that the planner has.
double cost(const GraphText& t, const FusionPlan& plan, const FusionOptions& options) {
  const GraphShape shape = t.shape();
  const FusionCalls calls(t.module, t.graph(), shape);
  const auto summaries = summarize_all(calls);
  FusionGrowth growth(t.graph(), calls, summaries, options);
  double sum = 0;
  uint64_t at = 0;
  for (const FusionGroup& group : plan.groups) {
    const Stretch* in = nullptr;
    for (const Stretch& s : calls.stretches)
      if (s.first <= at && at <= s.last) in = &s;
    growth.begin(uint32_t(at), *in);
    std::string why;
    for (size_t i = 1; i < group.calls.size(); ++i) EXPECT_TRUE(growth.extend(why)) << why;
    sum += growth.nanoseconds();
    at += group.calls.size();
  }
  return sum;
}

/// Fuses each call with those before it whenever possible.
FusionPlan greedy(const GraphText& t, const FusionOptions& options) {
  const GraphShape shape = t.shape();
  const FusionCalls calls(t.module, t.graph(), shape);
  const auto summaries = summarize_all(calls);
  FusionGrowth growth(t.graph(), calls, summaries, options);
  FusionPlan plan;
  for (const Stretch& s : calls.stretches)
    for (uint32_t at = s.first; at <= s.last;) {
      growth.begin(at, s);
      uint32_t last = at;
      std::string why;
      while (growth.last() < s.last && growth.extend(why))
        if (growth.uncleared() == none) last = growth.last();
      FusionGroup group;
      for (uint32_t c = at; c <= last; ++c) group.calls.push_back(calls.calls[c].node);
      plan.groups.push_back(group);
      at = last + 1;
    }
  return plan;
}

TEST(FusionPlanner, is_never_worse_than_joining_from_left_to_right) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    lab::Random random(seed);
    const lab::Generated g = lab::ChainWriter(random, {}).write();
    GraphText t("kernel k() workgroup(1) grid(1) { }\ngraph g() { call k() }");
    t.module = g.module;
    t.inputs = {g.inputs.data, g.inputs.lengths};
    for (const double launch : {0.0, 100.0, 1e5}) {
      FusionOptions options;
      options.costs.launch_ns = launch;
      options.most_calls = seed % 2 ? 32 : 3;
      const FusionPlan plan = t.plan(options);
      EXPECT_LE(cost(t, plan, options), 1.000001 * cost(t, greedy(t, options), options))
          << "seed " << seed;
      for (const FusionGroup& group : plan.groups)
        EXPECT_LE(group.calls.size(), options.most_calls);
    }
  }
}

std::string long_chain(size_t stages) {
  std::string text =
      "kernel k(x: in f32[], y: out f32[len(x)]) workgroup(256) grid(len(x)) {\n"
      "  let i = global_id.x\n  if i >= len(x) { return }\n  y[i] = x[i] * 2.0 + 1.0\n}\n"
      "graph g(x: in f32[], y: out f32[len(x)]) {\n";
  for (size_t i = 0; i + 1 < stages; ++i) text += fmt::format("  buffer t{}: f32[len(x)]\n", i);
  for (size_t i = 0; i < stages; ++i)
    text += fmt::format("  call k({}, {})\n", i ? fmt::format("t{}", i - 1) : "x",
                        i + 1 < stages ? fmt::format("t{}", i) : "y");
  return text + "}\n";
}

TEST(FusionPlanner, plans_a_thousand_stages_in_a_blink) {
  GraphText t(long_chain(1000));
  t.set("x", std::vector<float>(1000, 1.5f));
  const GraphShape shape = t.shape();
  double best = 1e9;
  FusionPlan plan;
  for (int i = 0; i < 5; ++i) {
    const double begin = cpu_seconds();
    plan = plan_fusion(t.module, t.graph(), shape);
    best = std::min(best, cpu_seconds() - begin);
  }
  EXPECT_EQ(plan.groups.size(), 32u);
  EXPECT_EQ(plan.avoided_launches, 968u);
  EXPECT_LT(best, 0.25);  // 0.05 on a machine that does nothing else
  RecordProperty("milliseconds", fmt::format("{:.1f}", best * 1e3));
  const FusedGraph fused = same_fused(t, plan);
  EXPECT_EQ(calls_of(fused), 32u);
  EXPECT_EQ(fused.module.kernels.size(), 2u);  // 31 groups of 32 calls are one kernel
}

TEST(FusionPlanner, lengths_that_fill_no_memory_are_planned) {
  GraphText t(R"(
kernel a(x: inout u8[1099511627776], y: out u8[1099511627776]) workgroup(256) grid(4294967040) {
  y[u64(global_id.x) * 256] = x[u64(global_id.x) * 256]
}
graph g(n: u32) {
  buffer x: u8[1099511627776]
  buffer y: u8[1099511627776]
  buffer z: u8[1099511627776]
  call a(x, y)
  call a(y, z)
}
)");
  t.set("n", std::vector<uint32_t>{1});
  const FusionPlan plan = t.plan();
  EXPECT_EQ(describe(t, plan), "a +same_invocation a -x -y -z\n") << reasons(plan);
  EXPECT_TRUE(check_fusion(t.module, t.graph(), t.shape(), plan));
}

TEST(FusionPlanner, what_the_checker_gives_up_on_stays_apart) {
  std::string deep = "  let n0 = global_id.x\n";
  for (int i = 1; i < 600; ++i) deep += fmt::format("  let n{} = n{} + 0\n", i, i - 1);
  GraphText t("kernel a(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n" + deep +
              "  y[n599] = x[n599] + 1\n}\n"
              "kernel b(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
              "  y[global_id.x] = x[global_id.x] * 3\n}\n"
              "graph g(x: in u32[], y: out u32[len(x)]) {\n  buffer t: u32[len(x)]\n"
              "  buffer s: u32[len(x)]\n  buffer r: u32[len(x)]\n  buffer q: u32[len(x)]\n"
              "  call a(x, t)\n  call a(t, s)\n repeat 1 { call b(s, r)\n call b(r, q) }\n call "
              "b(q, y)\n}\n");
  t.set("x", std::vector<uint32_t>(100, 3));
  const FusionPlan plan = t.plan();
  EXPECT_EQ(describe(t, plan), "a\na\nb +same_invocation b -r\nb\n");
  EXPECT_NE(reasons(plan).find("not confirmed"), std::string::npos);
  EXPECT_EQ(plan.avoided_launches, 1u);
  same_fused(t, plan);
}

TEST(FusionPlanner, indices_that_wrap_are_not_trusted) {
  // 65536 · 65536 wraps to 0 in u32: all rows are the first one.
  GraphText t(R"(
kernel a(w: u32, x: in u32[], y: out u32[len(x)]) workgroup(1, 1) grid(4, 3) {
  y[global_id.y * w * w + global_id.x] = x[global_id.x] + global_id.y
}
graph g(w: u32, x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call a(w, x, t)
  call a(w, t, y)
}
)");
  t.set("w", std::vector<uint32_t>{65536}).set("x", std::vector<uint32_t>(8, 1));
  EXPECT_EQ(describe(t, t.plan()), "a\na\n");
}

}  // namespace
}  // namespace vyre::plan
