// The optimizer in the driver: selects the passes for a program and a device, and caches optimized
// programs.
//
// Passes run before the lookup in the compile cache, whose keys contain the optimized program: code
// depends on it, and traps number its ops. Selection is repeated for every compile, so that its
// reasons are those of this compile; the results of passes are cached for a while.

#include <algorithm>

#include "check/check.h"
#include "opt/analysis/full_writes.h"
#include "opt/pipeline.h"
#include "runtime/cache/cache_program.h"
#include "runtime/compile/optimizer_target.h"
#include "runtime/device_state.h"

namespace vyre::driver {
namespace {

/// The limits of the cache: programs, and their bytes.
constexpr size_t most_kept = 32;
constexpr size_t most_kept_bytes = 64 << 20;

/// Compares names and source locations too: they are in messages.
bool same(const Program& a, const Program& b) {
  const auto same_name = [](const vyre::Buffer& x, const vyre::Buffer& y) {
    return x.name == y.name;
  };
  const auto same_loc = [](const Op& x, const Op& y) { return x.loc == y.loc && x.attr == y.attr; };
  return a.ops.size() == b.ops.size() && a.name == b.name && a.loc == b.loc &&
         a.strings == b.strings && a.locations == b.locations && same_but_for_names(a, b) &&
         std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    same_name) &&
         std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), same_loc);
}

opt::OptimizeOptions options_for(const DeviceState& d, const Program& program,
                                 const Optimization& wanted) {
  const DeviceInfo& info = d.backend->info();
  opt::OptimizeOptions o;
  o.profile = wanted.profile.value_or(info.optimizes ? opt::Profile::Release : opt::Profile::None);
  o.passes = wanted.passes;
  if (!wanted.passes && !wanted.profile && info.optimizes) o.passes = d.passes;
  o.profile_data = wanted.learnt.get();
  o.target = optimizer_target(info, wanted.launch_bytes);
  o.schedule.keep_texts = wanted.keep_texts;
  o.schedule.check |= wanted.check_passes;
  if (const auto stop = wanted.stop_after.find(program.name); stop != wanted.stop_after.end())
    o.schedule.stop_after = stop->second;
  return o;
}

size_t kept_bytes(const Program& p) { return bytes_of(p); }
size_t kept_bytes(const Optimized& o) { return bytes_of(*o.given) + bytes_of(*o.program); }

template <class T>
void keep(std::deque<std::shared_ptr<const T>>& kept, std::shared_ptr<T> made) {
  kept.push_front(std::move(made));
  size_t bytes = 0, n = 0;
  while (n < kept.size() && n < most_kept && bytes <= most_kept_bytes) {
    bytes += kept_bytes(*kept[n]);
    ++n;
  }
  kept.resize(n);
}

}  // namespace

Result<> DeviceState::check_once(const Program& program) {
  {
    const std::lock_guard lock(mutex);
    for (const auto& before : checked)
      if (same(*before, program)) return Ok{};
  }
  if (Diagnostics found = check(program); has_errors(found)) return found;
  auto legal = std::make_shared<Program>(program);
  const std::lock_guard lock(mutex);
  keep(checked, std::move(legal));
  return Ok{};
}

bool DeviceState::runs_passes(const CompileOptions& compile) const {
  const opt::OptimizeOptions wanted = options_for(*this, Program(), compile.optimize);
  return wanted.passes ? !wanted.passes->empty() : wanted.profile != opt::Profile::None;
}

Result<std::shared_ptr<const Optimized>> DeviceState::optimize(const Program& program,
                                                               const CompileOptions& compile) {
  opt::OptimizeOptions wanted = options_for(*this, program, compile.optimize);
  if (compile.limits.deadline()) wanted.schedule.is_over = [&] { return compile.limits.is_over(); };
  Result<opt::ChosenPasses> chosen = opt::choose_passes(program, wanted);
  if (!chosen) return chosen.errors();
  auto made = std::make_shared<Optimized>();
  made->passes = std::move(chosen->passes);
  made->launch_bytes = wanted.target.launch_bytes;
  made->stop_after = wanted.schedule.stop_after;
  made->has_texts = wanted.schedule.keep_texts;
  made->report = std::move(chosen->report);
  if (made->passes.empty()) {
    made->given = made->program = std::make_shared<const Program>(program);
    return std::shared_ptr<const Optimized>(std::move(made));
  }
  if (!compile.optimize.check_passes) {  // the earlier compile may not have checked them
    const std::lock_guard lock(mutex);
    for (const auto& before : optimized)
      if (before->passes == made->passes && before->launch_bytes == made->launch_bytes &&
          before->stop_after == made->stop_after && before->has_texts >= made->has_texts &&
          same(*before->given, program)) {
        std::vector<opt::PassChoice> choices = std::move(made->report.choices);
        std::string profile = std::move(made->report.profile);
        *made = *before;
        made->report.choices = std::move(choices);
        made->report.profile = std::move(profile);
        return std::shared_ptr<const Optimized>(std::move(made));
      }
  }
  auto changed = std::make_shared<Program>(program);
  if (auto done =
          opt::run_passes(*changed, made->passes, wanted.target, wanted.schedule, made->report);
      !done)
    return done.errors();
  if (compile.limits.is_over()) return compile.limits.timed_out(program);
  made->given = std::make_shared<const Program>(program);
  made->full_writes = opt::FullWrites(*changed);
  made->program = std::move(changed);
  const std::lock_guard lock(mutex);
  keep(optimized, made);
  return std::shared_ptr<const Optimized>(std::move(made));
}

}  // namespace vyre::driver
