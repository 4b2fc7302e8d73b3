#include "tools/vyre/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/lower/literal.h"

namespace vyre::cli {

Result<RunResult> execute(const Target& target, const Launch& launch) {
  if (target.kernel) {
    auto outcome = interp::run(*target.kernel, launch.inputs, launch.options);
    if (!outcome) return std::move(outcome.errors());
    return RunResult{std::move(outcome->buffers)};
  }
  const interp::GraphInputs inputs{launch.inputs.data, launch.inputs.lengths};
  auto outcome = interp::run(*target.module, *target.graph, inputs, launch.options);
  if (!outcome) return std::move(outcome.errors());
  return RunResult{std::move(outcome->buffers)};
}

Result<> reduce_limits(Launch& launch, const LimitsUsed& used) {
  interp::Options& o = launch.options;
  if (o.time_limit > 0 && used.seconds >= o.time_limit)
    return diagnose(
               Code::TimeLimitExceeded, {},
               fmt::format("the time of {} seconds was over before the run began", o.time_limit))
        .with_fix("raise the time limit");
  if (o.memory_limit > 0 && used.bytes >= o.memory_limit)
    return diagnose(Code::MemoryLimitExceeded, {},
                    fmt::format("memory limit: the buffers of one run take {} of {} bytes",
                                used.bytes, o.memory_limit))
        .with_fix("raise the memory limit, or give smaller lengths");
  // Whole milliseconds read better.
  if (o.time_limit > 0) o.time_limit = std::ceil((o.time_limit - used.seconds) * 1e3) / 1e3;
  if (o.memory_limit > 0) o.memory_limit -= used.bytes;
  return Ok{};
}

Result<RunResult> execute_within(const Target& target, Launch launch, const LimitsUsed& used) {
  const interp::Options whole = launch.options;
  const auto run = [&]() -> Result<RunResult> {
    if (auto left = reduce_limits(launch, used); !left) return left.errors();
    return execute(target, launch);
  };
  auto result = run();
  if (result) return result;
  for (Diagnostic& d : result.errors()) {
    if (d.code == Code::TimeLimitExceeded && used.seconds > 0)
      d.note(fmt::format("both runs together have {} seconds", whole.time_limit));
    if (d.code == Code::MemoryLimitExceeded)
      d.note(fmt::format("both runs together have {} bytes, and the other takes {}",
                         whole.memory_limit, used.bytes));
  }
  return result;
}

std::optional<Diagnostic> compare_results(const Target& target, const RunResult& first,
                                          const std::string& a, const RunResult& second,
                                          const std::string& b) {
  std::optional<Diagnostic> difference;
  for (const Parameter& p : target.parameters) {
    if (!is_host_output(p.role)) continue;
    const Bytes& x = first.buffers[p.buffer];
    const Bytes& y = second.buffers[p.buffer];
    if (x == y) continue;
    const uint64_t count = std::min(x.size(), y.size()) / size_of(p.element);
    uint64_t differing = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t u = element_bits(p.element, x, i);
      const uint64_t v = element_bits(p.element, y, i);
      if (u == v) continue;
      ++differing;
      if (difference) continue;
      difference = diagnose(
          Code::ResultsDiffer, {},
          fmt::format("`{}[{}]` is {} with {} and {} with {}", p.name, i,
                      text::print_value(p.element, u), a, text::print_value(p.element, v), b));
    }
    if (!difference)
      difference = diagnose(Code::ResultsDiffer, {},
                            fmt::format("`{}` has {} bytes with {} and {} with {}", p.name,
                                        x.size(), a, y.size(), b));
    difference->note(fmt::format("{} of {} elements of `{}` differ", differing, count, p.name));
  }
  if (difference)
    difference->with_fix(
        "look for two invocations that write one element, or for the old value of an atomic; `vyre "
        "check` notes order-dependent operations");
  return difference;
}

}  // namespace vyre::cli
