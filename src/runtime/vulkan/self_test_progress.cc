#include "runtime/vulkan/self_test_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "interp/interp.h"
#include "runtime/vulkan/self_test_cases.h"
#include "runtime/vulkan/self_test_launch.h"

namespace vyre::driver::vulkan {
namespace {

using Steady = std::chrono::steady_clock;
using Ended = SubmissionOutcome::Kind;

Result<TestLaunch> launch_of(VulkanDevice& d, const char* source) {
  TestLaunch l;
  l.program = std::make_shared<const Program>(self_test_program(source));
  Result<std::shared_ptr<CompiledKernel>> kernel = d.compile(l.program, {});
  if (!kernel) return kernel.errors();
  l.kernel = std::move(*kernel);
  l.inputs.data.resize(l.program->buffers.size());
  l.inputs.lengths.resize(l.program->buffers.size());
  return l;
}

/// Returns `T{}` where the device refuses the code or cuts its loops.
template <class T>
Result<T> or_nothing(Result<T> shown) {
  if (shown) return shown;
  const Code code = shown.errors()[0].code;
  if (code == Code::MissingFeature || code == Code::NotExact || code == Code::CodeRejected)
    return T{};
  return shown;
}

// ---- Progress.

/// Each workgroup takes a ticket and runs iterations, never further than its neighbours: the
/// previous ticket, which has begun, and the next one once it has begun. One invocation polls, and
/// the rest wait for it at a barrier.
///
/// There are few polls (devices that cut loops do so after 65,535 iterations), so there is work
/// between two polls. On a CPU that emulates a GPU the other workgroup may have to wait for a core
/// meanwhile.
const char* const workgroups = R"(
fn work(x: u32, by: u32) -> u32 {
  var y = x
  y = y / by + 0x80000001
  y = y / by + 0x80000011
  y = y / by + 0x80000111
  y = y / by + 0x80001111
  y = y / by + 0x80011111
  y = y / by + 0x80111111
  y = y / by + 0x81111111
  y = y / by + 0x91111111
  return y
}
kernel t(y: out u32[], begun: out u32[1], reached: out u32[len(y) + 2], gave_up: out u32[1],
         kept: out u32[len(y)]) workgroup(64) grid(64 * len(y)) requires(forward_progress) {
  shared went_on: u32[1]
  if local_id.x == 0 {
    let ticket = atomic_add(begun[0], 1)
    var looks: u32 = 0
    var x: u32 = 0
    for round in 1u32..5u32 {
      atomic_store(reached[ticket + 1], round, acq_rel)
      let is_last = atomic_load(begun[0]) == ticket + 1
      var waits = true
      while waits {
        let before = ticket == 0 || atomic_load(reached[ticket], acq_rel) >= round
        let behind = is_last || atomic_load(reached[ticket + 2], acq_rel) >= round
        waits = !(before && behind) && looks < 50000 && atomic_load(gave_up[0]) == 0
        if waits { x = work(x, num_workgroups.x) }
        looks += 1
      }
    }
    if looks >= 50000 { atomic_max(gave_up[0], 1) }
    kept[ticket] = x
    went_on[0] = u32(atomic_load(gave_up[0]) == 0)
  }
  barrier workgroup
  if local_id.x == 63 { y[workgroup_id.x] = went_on[0] }
})";

/// Two lanes that wait for each other, so that it does not matter which branch runs first on a
/// device that runs only one branch at a time.
const char* const lanes = R"(
kernel t(y: out u32[], said: out u32[2]) workgroup(64) grid(64) {
  var looks: u32 = 0
  if local_id.x == 0 {
    while atomic_load(said[1], acq_rel) == 0 && looks < 10000 { looks += 1 }
    atomic_store(said[0], 1, acq_rel)
    y[0] = u32(looks < 10000)
  } else if local_id.x == 1 {
    atomic_store(said[1], 1, acq_rel)
    while atomic_load(said[0], acq_rel) == 0 && looks < 10000 { looks += 1 }
    y[1] = u32(looks < 10000)
  }
})";

/// The number of attempts: a workgroup that has to wait for a core may make progress the next time.
constexpr int tries = 3;

/// Returns true if all invocations or workgroups in this kernel make progress; each reports it with
/// a 1 in the first buffer.
Result<bool> go_on(VulkanDevice& d, const char* source, uint32_t all) {
  Result<TestLaunch> launch = launch_of(d, source);
  if (!launch) return launch.errors();
  launch->inputs.lengths[0] = all;
  for (int i = 0; i < tries; ++i) {
    const Result<TestEnd> end = run_test(d, *launch);
    if (!end) return end.errors();
    const std::vector<uint32_t> ones(all, 1);
    if (std::ranges::equal(end->buffers[BufferId(0)], std::as_bytes(std::span(ones)))) return true;
  }
  return false;
}

// ---- The stop flag.

/// Runs arbitrarily long, by iterations or by invocations. The loop's result has no closed form.
const char* const endless = R"(
kernel t(y: out u32[64], invocations: u32, rounds: u32) workgroup(64) grid(invocations) {
  var x = global_id.x
  for i in 0..rounds {
    x = x * 1664525 + (x >> 7) + i
  }
  y[global_id.x] = x
})";

void set_size(TestLaunch& l, uint32_t invocations, uint32_t rounds) {
  for (const auto& [buffer, value] : {std::pair(1, invocations), std::pair(2, rounds)}) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    l.inputs.data[size_t(buffer)].emplace(bytes.begin(), bytes.end());
  }
}

/// The deadline from now on; and the time after it in which a launch that sees the stop flag ends,
/// even if the threads that write and read the flag have to wait for a core.
constexpr auto until_deadline = std::chrono::milliseconds(20);
constexpr auto patience = std::chrono::milliseconds(250);

/// Returns how long after its deadline a stopped launch ended; nothing if none was stopped. Each
/// launch is four times as large as the one before, until one is late, so that none is much too
/// long.
Result<std::optional<uint64_t>> stop_one(VulkanDevice& d, TestLaunch l, bool long_loops) {
  constexpr uint32_t most = 1 << 16;
  for (uint32_t size = 1; size <= most; size *= 4) {
    set_size(l, long_loops ? 64 : 64 * size, long_loops ? (1 << 14) * size : 1 << 14);
    l.deadline = Steady::now() + until_deadline;
    const Result<TestEnd> end = run_test(d, l);
    const Steady::duration after = Steady::now() - *l.deadline;
    if (!end) return end.errors();
    if (end->kind == Ended::TimedOut && end->stopped_at != none)
      return std::optional(uint64_t(std::chrono::nanoseconds(std::max(after, {})).count()));
    if (after > patience) break;
  }
  return std::optional<uint64_t>();
}

/// Returns true if the device still computes correctly.
Result<bool> is_usable(VulkanDevice& d, TestLaunch l) {
  set_size(l, 64, 1000);
  const Result<interp::Outcome> want = interp::run(*l.program, l.inputs, {});
  if (!want) return want.errors();
  const Result<TestEnd> end = run_test(d, l);
  if (!end) return end.errors();
  return end->buffers[BufferId(0)] == want->buffers[0];
}

}  // namespace

Result<> test_progress(VulkanDevice& d, TestedProfile& t) {
  d.profile = t.profile;
  // More workgroups than a GPU has cores: those that share a core may not make progress. The cores
  // of a CPU run their workgroups to completion.
  const uint32_t many = d.context().physical.is_cpu() ? 64 : 1024;
  const Result<bool> by_workgroups = or_nothing(go_on(d, workgroups, many));
  if (!by_workgroups) return by_workgroups.errors();
  const Result<bool> by_lanes = or_nothing(go_on(d, lanes, 2));
  if (!by_lanes) return by_lanes.errors();
  t.workgroups_go_on = *by_workgroups;
  t.lanes_go_on = *by_lanes;
  if (!t.workgroups_go_on)
    t.findings.push_back(
        "forward progress: workgroups that have begun do not go on while others wait");
  return Ok{};
}

Result<> test_stop_word(VulkanDevice& d, TestedProfile& t) {
  d.profile = t.profile;
  const Result<TestLaunch> launch = launch_of(d, endless);
  if (!launch) return launch.errors();
  const auto stopped = or_nothing(stop_one(d, *launch, t.profile.long_loops));
  if (!stopped) return stopped.errors();
  const Result<bool> usable = or_nothing(is_usable(d, *launch));
  if (!usable) return usable.errors();
  t.stop_ns = *usable ? *stopped : std::nullopt;
  if (!*stopped)
    t.findings.push_back("stop word: no launch ended soon after its deadline");
  else if (!*usable)
    t.findings.push_back("stop word: after a launch that was stopped, the next one is wrong");
  return Ok{};
}

}  // namespace vyre::driver::vulkan
