#include "differential/reduce_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "differential/repeat_command.h"

namespace vyre::lab {
namespace {

using Clock = std::chrono::steady_clock;

/// Candidates may use several times the work of the original, plus a constant.
constexpr uint64_t lane_op_factor = 4, spare_lane_ops = 1 << 16;
/// Time limit of a configuration, compiling included: this, or a multiple of the time that all took
/// at first.
constexpr double candidate_seconds = 5, max_slowdown = 5;

Generated generated(const reduce::Candidate& c, const Generated& like) {
  Generated g;
  g.seed = like.seed;
  g.limits = like.limits;
  g.leaves_files = like.leaves_files;
  g.module = c.module;
  g.inputs = *c.inputs;
  g.observes_subgroup = observes_subgroup(g.module);
  return g;
}

}  // namespace

Result<ReducedMismatch> reduce_mismatch(const Generated& g, const ConfigurationPair& pair,
                                        const ReduceOptions& options) {
  const auto begin = Clock::now();
  Generated small = g;
  const auto first = judge(pair, g);
  if (!first) return first.errors();
  small.leaves_files = false;
  small.limits.lane_ops = first->lane_ops * lane_op_factor + spare_lane_ops;
  // A loop that a wrong pass made endless ends by its work limit.
  const bool ends_by_limit =
      first->kind.find(to_string(Code::TimeLimitExceeded)) != std::string::npos;
  const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!ends_by_limit)
    small.limits.seconds =
        std::min(small.limits.seconds, std::max(candidate_seconds, taken * max_slowdown));

  ReducedMismatch result;
  reduce::Options how;
  how.is_interesting = [&](const reduce::Candidate& c) {
    return bool(judge(pair, generated(c, small), &*first));
  };
  how.should_stop = [&] {
    if (options.should_stop && options.should_stop()) return true;
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    result.out_of_time = options.seconds > 0 && passed > options.seconds;
    return result.out_of_time;
  };
  how.progress = options.progress;
  result.outcome = reduce::reduce({g.module, g.inputs}, how);
  result.program = generated(result.outcome.best, small);
  auto last = judge(pair, result.program, &*first);
  // A configuration that fails intermittently may not fail now.
  result.disagreement = last ? std::move(*last) : *first;
  const bool any_size = !result.program.observes_subgroup || result.program.fixed_subgroup() != 0;
  result.subgroup_size = any_size ? 32 : pair.second.subgroup_size;
  auto expected = reference(result.program, result.subgroup_size);
  if (!expected) return expected.errors();
  result.expected = std::move(*expected);
  return result;
}

std::string text_test(const ReducedMismatch& r) {
  return text_test(
      r.program, r.expected, r.subgroup_size,
      {fmt::format("{} {}", to_string(r.disagreement.what.code), r.disagreement.what.message)});
}

}  // namespace vyre::lab
