// The compile pipeline, from a program to an executable:
//
//   Device::compile()        check (check/check.h), compare with the device's limits, optimize
//                            (optimize_program.cc), choose the form: plain, cooperative, split at
//                            grid barriers (plan/split), coarse (transform/coarsen.h)
//   DeviceState::compile()   each segment of that form
//   OneKernel::get()         the cache (runtime/cache); else the backend legalizes (legalize/),
//                            generates code (codegen/) and loads it
//
// The calls of a graph come here after graph_prepare.cc has planned and fused them (plan/fusion).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <optional>

#include "diagnostics/work_deadline.h"
#include "interp/interp_limits.h"
#include "interp/launch_kernel.h"
#include "ir/stats.h"
#include "plan/split/check_split.h"
#include "runtime/cache/cache.h"
#include "runtime/compile/calibrate.h"
#include "runtime/device_state.h"
#include "text/print.h"
#include "transform/coarsen.h"

namespace vyre::driver {
namespace {

using Steady = std::chrono::steady_clock;

uint64_t since(Steady::time_point begin) {
  return uint64_t(std::chrono::nanoseconds(Steady::now() - begin).count());
}

Diagnostic too_large(const Program& p, std::string message) {
  return diagnose(Code::KernelTooLarge, p.place(p.loc), std::move(message))
      .with_fix("use a smaller kernel, or another device");
}

/// Returns all violations of the device's limits by the program.
Diagnostics misfits(const Program& p, const DeviceInfo& info, const CompileOptions& options) {
  Diagnostics d;
  const DeviceLimits& l = info.limits;
  const uint64_t invocations = uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2];
  if (invocations > l.workgroup_invocations)
    d.push_back(
        too_large(p, fmt::format("kernel `{}` has workgroups of {} invocations; {} allows {}",
                                 p.name, invocations, info.name, l.workgroup_invocations)));
  const ProgramStats s = stats(p);
  if (const uint64_t shared = s.shared_bytes; shared > l.shared_bytes)
    d.push_back(too_large(p, fmt::format("kernel `{}` has {} bytes of shared memory; {} has {}",
                                         p.name, shared, info.name, l.shared_bytes)));
  if (const uint64_t bytes = s.private_bytes; bytes > l.private_bytes)
    d.push_back(too_large(p, fmt::format("each invocation of kernel `{}` has {} bytes of private "
                                         "arrays; {} has {}",
                                         p.name, bytes, info.name, l.private_bytes)));
  const uint32_t subgroup = p.subgroup ? p.subgroup : options.subgroup_size;
  if (subgroup && std::find(l.subgroup_sizes.begin(), l.subgroup_sizes.end(), subgroup) ==
                      l.subgroup_sizes.end())
    d.push_back(too_large(p, fmt::format("kernel `{}` needs subgroups of {}; {} has {}", p.name,
                                         subgroup, info.name, fmt::join(l.subgroup_sizes, ", "))));
  if (p.requires_forward_progress && !l.forward_progress)
    d.push_back(
        diagnose(Code::NeedsForwardProgress, p.place(p.loc),
                 fmt::format("kernel `{}` requires forward progress; {} does not promise it",
                             p.name, info.name))
            .with_fix("use another device, or a grid barrier instead of waiting"));
  return d;
}

/// The source of code, nearest to the compiler first: the origin of a program of several segments
/// is the minimum of theirs.
enum class Origin : uint8_t { Compiled, Disk, Memory };
constexpr std::string_view names[] = {"compiled", "disk cache", "memory cache"};

struct Kernel {
  std::shared_ptr<CompiledKernel> kernel;
  Origin origin = Origin::Compiled;
};

/// Compiles one program, which has no grid barrier unless the device has a native one.
class OneKernel {
 public:
  OneKernel(DeviceState& device, std::shared_ptr<const Program> program,
            const CompileOptions& options)
      : d_(device), program_(std::move(program)), options_(options) {}

  Result<Kernel> get() {
    const DeviceInfo& info = d_.backend->info();
    if (!d_.options.cache || !info.keeps_code) return compile();
    CompileCache& cache = *d_.options.cache;
    const CacheKey key = make_key(*program_, info, options_);
    if (const auto entry = cache.find(key, *program_)) {
      const bool memory = entry->origin == CacheEntry::Origin::Memory;
      if (memory)
        if (auto kernel = find_alive(key)) return Kernel{std::move(kernel), Origin::Memory};
      if (auto kernel = d_.backend->load_kernel(program_, options_, entry->code)) {
        keep_alive(key, kernel);
        return Kernel{std::move(kernel), memory ? Origin::Memory : Origin::Disk};
      }
    }
    Result<Kernel> made = compile();
    if (!made) return made;
    const std::vector<std::byte> code = made->kernel->serialize();
    if (code.empty()) return made;
    cache.store(key, *program_, code);
    keep_alive(key, made->kernel);
    return made;
  }

 private:
  Result<Kernel> compile() {
    if (options_.limits.is_over()) return options_.limits.timed_out(*program_);
    Result<std::shared_ptr<CompiledKernel>> kernel = d_.backend->compile(program_, options_);
    if (!kernel) return kernel.errors();
    return Kernel{std::move(*kernel), Origin::Compiled};
  }

  std::shared_ptr<CompiledKernel> find_alive(const CacheKey& key) {
    const std::lock_guard lock(d_.mutex);
    const auto it = d_.alive.find(key.bytes);
    return it == d_.alive.end() ? nullptr : it->second.lock();
  }

  /// Remembers a kernel. Entries of destroyed kernels are removed only when there are many, so that
  /// the cost per entry stays constant.
  void keep_alive(const CacheKey& key, const std::shared_ptr<CompiledKernel>& kernel) {
    const std::lock_guard lock(d_.mutex);
    if (d_.alive.size() >= d_.alive_sweep) {
      std::erase_if(d_.alive, [](const auto& e) { return e.second.expired(); });
      d_.alive_sweep = std::max<size_t>(64, d_.alive.size() * 2);
    }
    d_.alive[key.bytes] = kernel;
  }

  DeviceState& d_;
  const std::shared_ptr<const Program> program_;
  const CompileOptions& options_;
};

/// Adds to errors which segment they belong to.
Diagnostics of_segment(Diagnostics errors, size_t segment, size_t of) {
  for (Diagnostic& d : errors)
    d.message = fmt::format("segment {} of {}: {}", segment + 1, of, d.message);
  return errors;
}

Result<> split(ExecutableState& e) {
  Result<plan::SplitPlan> plan = plan::split_at_grid_barriers(*e.program);
  if (!plan) return plan.errors();
  if (Result<> checked = plan::check_split(*e.program, *plan); !checked) return checked;
  const auto kept = std::make_shared<const plan::SplitPlan>(std::move(*plan));
  e.plan = kept;
  for (const Program& segment : kept->segments)
    e.segments.push_back({std::shared_ptr<const Program>(kept, &segment), nullptr});
  return Ok{};
}

/// Returns how a small program runs in large launches; null: as in others. `asked`: the option
/// `coarsen`; 0 if it is not given.
std::shared_ptr<ExecutableState::Alternative> coarse_alternative(const Program& p, uint32_t asked,
                                                                 const DeviceLimits& limits) {
  if (asked == 1 || (asked == 0 && limits.coarse_from == 0)) return nullptr;
  const uint32_t by = asked == 0 ? plan::coarsening(p) : plan::can_coarsen(p) ? asked : 1;
  if (by == 1) return nullptr;
  auto alternative = std::make_shared<ExecutableState::Alternative>();
  alternative->mode = ExecutionMode::Coarsened;
  alternative->coarse = by;
  alternative->always = asked != 0;
  return alternative;
}

/// Returns true if the launch should run coarsened.
bool suits_coarse(BackendDevice& backend, const ExecutableState::Alternative& other,
                  const Program& p, const CompileOptions& options, const LaunchShape& shape) {
  if (!backend.takes_coarse(options, shape)) return false;
  const uint64_t size = uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2];
  return other.always ||
         shape.workgroups() >= (backend.info().limits.coarse_from + size - 1) / size;
}

Optimized coarse_form(Optimized of, uint32_t by) {
  of.program = std::make_shared<const Program>(plan::coarsen(*of.program, by));
  of.coarse = by;
  return of;
}

}  // namespace

CompileOptions DeviceState::completed(CompileOptions options) const {
  if (options.subgroup_size == 0) options.subgroup_size = standing.subgroup_size;
  const size_t given = options.extra.size();
  for (const std::string& option : standing.extra) {
    const std::string_view name = std::string_view(option).substr(0, option.find('='));
    if (!option_value(std::span(options.extra).first(given), name)) options.extra.push_back(option);
  }
  std::sort(options.extra.begin(), options.extra.end());
  return options;
}

Result<Executable> Device::compile(const Program& program, const CompileOptions& given,
                                   const LaunchShape* launch) try {
  if (Result<> open = require_open(); !open) return open.errors();
  const CompileOptions options = state_->completed(given);
  if (Result<> valid = interp::check_time_limit(options.limits.seconds()); !valid)
    return valid.errors();
  if (options.limits.is_over()) return options.limits.timed_out(program);
  if (!options.checked)
    if (Result<> legal = state_->check_once(program); !legal) return legal.errors();
  Diagnostics wrong = option_mistakes(options.extra, info().options, info().backend);
  for (Diagnostic& d : misfits(program, info(), options)) wrong.push_back(std::move(d));
  if (!wrong.empty()) return wrong;
  const auto asked = uint32_t(option_number(options.extra, "coarsen").value_or(0));
  const auto begin = Steady::now();
  const Result<std::shared_ptr<const Optimized>> optimized = state_->optimize(program, options);
  if (!optimized) return optimized.errors();
  const uint64_t optimize_ns = (*optimized)->passes.empty() ? 0 : since(begin);
  const Program& p = *(*optimized)->program;
  BackendDevice& backend = *state_->backend;
  if (plan::has_grid_barrier(p)) {
    const bool split =
        !info().limits.native_grid_barrier || state_->options.split_grid_barriers ||
        !backend.has_native_barrier(p) ||
        (state_->calibrates_barriers && prefers_split({state_->calibrates_barriers, info()}));
    return state_->compile(**optimized, optimize_ns, options,
                           split ? ExecutionMode::Split : ExecutionMode::Cooperative);
  }
  auto coarse = coarse_alternative(p, asked, info().limits);
  if (coarse && launch && suits_coarse(backend, *coarse, p, options, *launch))
    return state_->compile(coarse_form(**optimized, coarse->coarse), optimize_ns, options,
                           ExecutionMode::Coarsened);
  return state_->compile(**optimized, optimize_ns, options, ExecutionMode::Plain,
                         std::move(coarse));
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a compiled kernel");
}

Result<Executable> DeviceState::compile(const Optimized& optimized, uint64_t optimize_ns,
                                        const CompileOptions& options, ExecutionMode mode,
                                        std::shared_ptr<ExecutableState::Alternative> other) try {
  // The splitter and our emitters poll the deadline; the compilers of drivers do not.
  const std::function<bool()> is_over = [&] { return options.limits.is_over(); };
  std::optional<WorkDeadline> deadline;
  if (options.limits.deadline()) deadline.emplace(is_over);
  const auto begin = Steady::now();
  auto made = std::make_shared<ExecutableState>();
  made->device = id;
  made->given = optimized.given;
  made->program = optimized.program;
  made->optimizer = optimized.report;
  made->optimize_ns = optimize_ns;
  made->full_writes = optimized.full_writes;
  made->mode = mode;
  if (mode != ExecutionMode::Split) {
    made->segments.push_back({made->program, nullptr});
  } else if (Result<> done = split(*made); !done) {
    return done.errors();
  }
  made->coarse = optimized.coarse;
  made->alternative = mode == ExecutionMode::Cooperative
                          ? std::make_shared<ExecutableState::Alternative>()
                          : std::move(other);

  CompileOptions each = options;
  Origin origin = Origin::Memory;
  for (size_t i = 0; i < made->segments.size(); ++i) {
    Result<Kernel> kernel = OneKernel(*this, made->segments[i].program, each).get();
    if (!kernel) {
      if (mode == ExecutionMode::Split && made->plan->is_split())
        return of_segment(kernel.errors(), i, made->segments.size());
      return kernel.errors();
    }
    made->segments[i].kernel = std::move(kernel->kernel);
    origin = std::min(origin, kernel->origin);
    if (kernel->origin == Origin::Compiled) made->emit_ns += made->segments[i].kernel->emit_ns;
    // All segments use the program's subgroup size: a value spilled per lane is reloaded by the
    // same lane.
    made->subgroup_size = made->segments[i].kernel->subgroup_size;
    if (made->program->subgroup == 0) each.subgroup_size = made->subgroup_size;
  }
  if (made->segments.empty()) {  // the program has no effect
    origin = Origin::Compiled;
    made->subgroup_size = made->program->subgroup ? made->program->subgroup
                          : options.subgroup_size ? options.subgroup_size
                                                  : backend->info().limits.default_subgroup_size;
  }
  made->options = std::move(each);
  made->options.optimize = {};
  made->origin = names[size_t(origin)];
  made->compile_ns = since(begin);
  Executable e;
  e.state_ = std::move(made);
  return e;
} catch (const WorkEnded&) {
  return options.limits.timed_out(*optimized.program);
}

Result<Executable> DeviceState::fitting(const Executable& executable, const LaunchShape& shape) {
  const ExecutableState& e = *executable.state();
  if (!e.alternative || shape.workgroups() == 0) return executable;
  ExecutableState::Alternative& other = *e.alternative;
  const bool fits = other.mode == ExecutionMode::Coarsened
                        ? !suits_coarse(*backend, other, *e.program, e.options, shape)
                        : backend->runs_at_once(*e.segments[0].kernel, shape);
  if (fits) return executable;
  const std::lock_guard lock(other.mutex);
  if (!other.executable.state()) {
    Optimized same;
    same.given = e.given;
    same.program = e.program;
    same.report = e.optimizer;
    same.full_writes = e.full_writes;
    if (other.mode == ExecutionMode::Coarsened) same = coarse_form(std::move(same), other.coarse);
    CompileOptions options = e.options;
    options.limits = options.limits.restarted();
    Result<Executable> made = compile(same, 0, options, other.mode);
    if (!made) return made;
    other.executable = std::move(*made);
  }
  return other.executable;
}

Result<ListedCode> Device::list_code(const Executable& executable) const try {
  if (Result<> open = require_open(); !open) return open.errors();
  if (auto problem = state_->problem(executable)) return *problem;
  ListedCode code;
  for (const ExecutableState::Segment& s : executable.state()->segments) {
    auto listing = state_->backend->list_code(*s.program, executable.state()->options);
    if (!listing) return listing.errors();
    code.is_program |= !listing->has_value();
    code.segments.push_back(*listing ? std::move(**listing) : print_lines(*s.program));
  }
  return code;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a listing");
}

}  // namespace vyre::driver
