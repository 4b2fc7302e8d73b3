// Time of planning: scratch reuse by number of stages, and launch groups.
//
// The reference in the same run is check_reuse(), which checks every arm of a finished plan.

#include <benchmark/benchmark.h>

#include <random>

#include "plan/launches/launch_groups.h"
#include "plan/memory/check_reuse.h"
#include "plan/memory/reuse.h"

namespace {

using namespace vyre::plan;

/// Each stage fills a buffer and reads some of those before it, near ones and far ones.
ReuseInput stages(int64_t n) {
  std::mt19937_64 random(1);
  ReuseInput in;
  for (uint32_t i = 0; i < n; ++i) {
    in.buffers.push_back({1 + random() % 1'000'000});
    Arm arm{i, "", {{.buffer = vyre::GraphBufferId(i), .writes = true, .overwrites = true}}};
    for (const uint32_t back : {1u, 2u, 7u, 31u})
      if (i >= back && random() % 2)
        arm.uses.push_back({.buffer = vyre::GraphBufferId(i - back), .reads = true});
    in.arms.push_back(std::move(arm));
  }
  return in;
}

void plan_of_reuse(benchmark::State& state) {
  const ReuseInput in = stages(state.range(0));
  ReusePlan plan;
  for (auto _ : state) plan = plan_reuse(in);
  if (state.range(0) == 1000) state.SetLabel("goal: 50 ms, at most 10 % above the bound");
  state.counters["above_bound_%"] = 100.0 * (double(plan.after) / double(plan.live_sum) - 1);
  state.counters["saved_%"] = 100.0 * (1 - double(plan.after) / double(plan.before));
}
BENCHMARK(plan_of_reuse)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void check_of_reuse(benchmark::State& state) {
  const ReuseInput in = stages(state.range(0));
  const ReusePlan plan = plan_reuse(in);
  for (auto _ : state) benchmark::DoNotOptimize(bool(check_reuse(in, plan)));
}
BENCHMARK(check_of_reuse)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

std::vector<LaunchStage> launches(int64_t n) {
  std::mt19937_64 random(1);
  std::vector<LaunchStage> list;
  for (int64_t i = 0; i < n; ++i)
    list.push_back({random(), random() % 8 == 0, random() % 100, random() % 100, random() % 50,
                    random() % 50 == 0});
  return list;
}

template <auto plan>
void launch_groups(benchmark::State& state) {
  const std::vector<LaunchStage> list = launches(state.range(0));
  LaunchGroupStorage storage;
  for (auto _ : state) benchmark::DoNotOptimize(plan(list, 1000, storage)->launches);
  const auto done = plan(list, 1000, storage);
  state.counters["launches"] = double(done->launches);
  state.counters["avoided_bytes"] = double(done->avoided_bytes);
}
BENCHMARK(launch_groups<plan_launch_groups>)
    ->Name("greedy_launch_groups")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(launch_groups<best_launch_groups>)
    ->Name("best_launch_groups")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
