#include "runtime/run_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "check/check.h"
#include "interp/launch_kernel.h"
#include "runtime/buffer_owner.h"
#include "runtime/compile/optimizer_target.h"
#include "runtime/run_inputs.h"
#include "runtime/run_trace.h"
#include "runtime/submit/memory_need.h"
#include "support/bytes_text.h"

namespace vyre::driver {
namespace {

Scalar scalar_of(Type type, const std::vector<std::byte>& bytes) {
  Scalar s{type, 0};
  std::memcpy(&s.bits, bytes.data(), std::min<size_t>(bytes.size(), 8));
  return s;
}

std::vector<ScratchLength> scratch_lengths(const Program& p, const LaunchInputs& inputs) {
  std::vector<ScratchLength> lengths;
  for (const BufferId i : p.buffers.ids())
    if (p.buffers[i].role == Role::Scratch && inputs.lengths.contains(i) && inputs.lengths[i])
      lengths.push_back({p.buffers[i].name, *inputs.lengths[i]});
  return lengths;
}

/// Returns V0504 before anything is allocated.
std::optional<Diagnostic> beyond_output_limit(const Program& p, const LaunchShape& shape,
                                              const RunOptions& options) {
  uint64_t output = 0;
  for (const BufferId i : p.buffers.ids())
    if (is_host_output(p.buffers[i].role))
      output += shape.counts[i] * size_of(p.buffers[i].element);
  if (options.output_limit == 0 || output <= options.output_limit) return std::nullopt;
  return diagnose(Code::OutputLimitExceeded, {},
                  fmt::format("output limit: kernel `{}` gives {} back; the limit is {}", p.name,
                              exact_bytes(output), exact_bytes(options.output_limit, false)))
      .with_fix("raise the output limit, or give smaller lengths");
}

}  // namespace

CompileLimits compile_limits(const RunOptions& options) {
  if (options.time_limit == 0 && options.memory_limit == 0) return options.compile.limits;
  return CompileLimits(options.time_limit, options.memory_limit);
}

Result<RunOutcome> run(Device& device, const Program& p, const LaunchInputs& inputs,
                       const RunOptions& options) try {
  if (!options.compile.checked)
    if (Diagnostics found = check(p); has_errors(found)) return found;
  RunOutcome out;
  Result<LaunchShape> shape = resolve_launch(p, inputs);
  if (!shape) return shape.errors();
  out.shape = std::move(*shape);
  if (auto beyond = beyond_output_limit(p, out.shape, options)) return *beyond;
  out.buffers.resize(p.buffers.size());

  RunTrace trace;
  const uint64_t begin = steady_ns();
  CompileOptions compile = options.compile;
  compile.limits = compile_limits(options);
  compile.checked = true;
  compile.optimize.launch_bytes = parameter_bytes(p, out.shape);
  Result<Executable> executable = device.compile(p, compile, &out.shape);
  if (!executable) return executable.errors();
  trace.compiled(*executable, begin, out.times);
  const double compile_seconds = double(steady_ns() - begin) / 1e9;
  if (options.compiled) options.compiled(*executable);
  uint64_t spare = ~uint64_t{0};
  if (options.memory_limit > 0) {
    const Result<MemoryNeed> need = device.memory_need(*executable, inputs);
    if (!need) return need.errors();
    if (auto beyond = beyond_memory_limit(*need, options.memory_limit,
                                          fmt::format("kernel `{}`", p.name), {}))
      return *beyond;
    out.working_bytes = need->working;
    spare = options.memory_limit - need->total();
  }
  out.coarse = executable->coarse();
  out.subgroup_size = executable->subgroup_size();
  out.origin = executable->origin();

  BufferOwner owner(device);
  std::vector<Argument> arguments;
  RunInputs written(owner, options);
  std::vector<Command> readbacks;
  for (const BufferId i : p.buffers.ids()) {
    const auto& b = p.buffers[i];
    if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
    if (b.role == Role::Scalar) {
      arguments.emplace_back(scalar_of(b.element, *inputs.data[i]));
      continue;
    }
    const uint64_t bytes = out.shape.counts[i] * size_of(b.element);
    Result<Buffer> made = owner.allocate(bytes);
    if (!made) return made.errors();
    arguments.emplace_back(*made);
    written.add(b.role, *made, inputs.data, i.value());
    if (!is_host_output(b.role) || !is_requested(options, i.value())) continue;
    if (Result<> r = reserve_output(out.buffers[i], bytes, b.name); !r) return r.errors();
    readbacks.push_back(ReadbackAll{*made, &out.buffers[i]});
  }

  const uint32_t repeats = std::max(1u, options.repeat);
  uint32_t done = 0;
  const auto stage = [&](const char* name, std::vector<Command> commands, bool is_launch,
                         uint64_t* wall, double time_limit = 0) -> Result<SubmitReport> {
    SubmitOptions o;
    o.time_limit = time_limit;
    o.time_used = compile_seconds;
    o.output_limit = options.output_limit;
    o.call_times = options.call_times || device.has_telemetry();
    const uint64_t start = steady_ns();
    Result<Ticket> t = device.submit(std::move(commands), o);
    if (!t) return t.errors();
    std::function<void(double)> progress;
    if (options.progress && is_launch)
      progress = [&](double f) { options.progress((done + f) / repeats); };
    Result<SubmitReport> r = wait_for(*t, progress);
    if (*wall == 0) *wall = steady_ns() - start;
    if (!r) return r;
    trace.host(name, start, done == repeats);
    if (is_launch)
      trace.launch(p.name, start, r->run_ns);
    else
      trace.copy(name, start, moved_ns(*r), r->uploaded + r->read_back);
    return r;
  };
  Launch launch;
  launch.executable = *executable;
  launch.arguments = arguments;
  launch.grid = inputs.grid;
  launch.lengths = scratch_lengths(p, inputs);
  const auto keep_busy = [&](uint32_t count) {
    return stage("warm-up", written.repeated(spare, launch, count), false, &out.times.run,
                 options.time_limit * count);
  };
  for (; done < repeats; ++done) {
    if (done == 1)
      if (Result<> r = warm_up(device, trace, out.device_ns[0], keep_busy); !r) return r.errors();
    Result<SubmitReport> up = done == 0
                                  ? stage("upload", written.first(), false, &out.times.upload)
                                  : stage("restore", written.next(spare), false, &out.times.upload);
    if (!up) return up.errors();
    if (done == 0) out.uploaded = up->uploaded;
    Result<SubmitReport> ran = stage("run", {launch}, true, &out.times.run, options.time_limit);
    if (!ran) return ran.errors();
    if (done == 0) out.device_bytes = device.memory_peak();
    out.device_ns.push_back(ran->run_ns + ran->fill_ns);  // as for a graph
    out.segments = ran->launches;                         // the same for every repeat
  }
  Result<SubmitReport> down = stage("readback", readbacks, false, &out.times.readback);
  if (!down) return down.errors();
  out.read_back = down->read_back;
  out.events = trace.take();
  return out;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("a run");
}

}  // namespace vyre::driver
