#include "tools/vyre/device_run.h"

#include <fmt/format.h>

#include "runtime/run_graph.h"

namespace vyre::cli {
namespace {

/// `--schedule` as an option of the interpreter.
std::string schedule_option(const interp::Options& options) {
  switch (options.schedule) {
    case interp::Schedule::Order: return "schedule=order";
    case interp::Schedule::Reverse: return "schedule=reverse";
    case interp::Schedule::Random: return fmt::format("schedule=random:{}", options.seed);
  }
  return "";
}

driver::RunOptions run_options(const Launch& launch, const LaunchFlags& flags,
                               const DeviceRunOptions& options) {
  driver::RunOptions o;
  o.time_limit = launch.options.time_limit;
  o.output_limit = launch.options.output_limit;
  o.memory_limit = launch.options.memory_limit;
  o.repeat = options.repeat;
  o.progress = options.progress;
  o.compiled = options.compiled;
  o.outputs = options.outputs;
  o.call_times = options.call_times;
  o.compile.checked = true;  // commands check what they load
  o.compile.optimize = options.optimize;
  o.fuse = o.reuse = options.planned;
  o.plan = options.plan;
  // Without the flag the device selects the size.
  if (!flags.subgroup_size.empty()) o.compile.subgroup_size = launch.options.subgroup_size;
  if (!flags.schedule.empty()) o.compile.extra.push_back(schedule_option(launch.options));
  return o;
}

Result<DeviceRun> run_kernel(driver::Device& device, const Program& kernel, const Launch& launch,
                             const driver::RunOptions& options) {
  auto o = driver::run(device, kernel, launch.inputs, options);
  if (!o) return std::move(o.errors());
  DeviceRun r;
  r.result.buffers = std::move(o->buffers);
  r.counts = std::move(o->shape.counts);
  r.grid = o->shape.invocations_wanted;
  r.num_workgroups = o->shape.num_workgroups;
  r.times = o->times;
  r.device_ns = std::move(o->device_ns);
  r.events = std::move(o->events);
  r.uploaded = o->uploaded;
  r.read_back = o->read_back;
  r.device_peak = o->device_bytes;
  r.working_bytes = o->working_bytes;
  r.launches = 1;
  r.segments = o->segments;
  r.coarse = o->coarse;
  r.subgroup_size = o->subgroup_size;
  r.origin = std::move(o->origin);
  return r;
}

Result<DeviceRun> run_graph(driver::Device& device, const Target& target, const Launch& launch,
                            const driver::RunOptions& options) {
  const interp::GraphInputs inputs{launch.inputs.data, launch.inputs.lengths};
  auto o = driver::run_graph(device, *target.module, *target.graph, inputs, options);
  if (!o) return std::move(o.errors());
  DeviceRun r;
  r.result.buffers = std::move(o->buffers);
  r.counts = std::move(o->counts);
  r.times = o->times;
  r.device_ns = std::move(o->device_ns);
  r.events = std::move(o->events);
  r.uploaded = o->uploaded;
  r.read_back = o->read_back;
  r.device_peak = o->device_bytes;
  r.working_bytes = o->working_bytes;
  r.launches = o->calls;
  r.segments = o->segments;
  r.subgroup_size = o->subgroup_size;
  r.origin = o->origin;
  r.graph = std::move(*o);
  return r;
}

}  // namespace

Result<driver::Choice> choose_backend(const std::string& name, const LaunchFlags& flags) {
  if (flags.schedule.empty()) return driver::choose(name);
  const auto parsed = driver::parse_device_name(name);
  if (!parsed) return parsed.errors();
  const bool is_auto = parsed->device == "auto";
  // The interpreter, with the options of `auto`.
  auto choice = driver::choose(is_auto ? "interp" + name.substr(parsed->device.size()) : name);
  if (!choice) return choice;
  if (choice->backend->name() != "interp")
    return diagnose(Code::ScheduleOfDevice, {},
                    fmt::format("`--schedule {}` is for the interpreter, and the backend is `{}`",
                                flags.schedule, choice->backend->name()))
        .with_fix("drop `--schedule`, or use `--backend interp`");
  if (is_auto) choice->why = "only the interpreter can follow `--schedule`";
  return choice;
}

Result<DeviceRun> run_on(driver::Device& device, const Target& target, const Launch& launch,
                         const LaunchFlags& flags, const DeviceRunOptions& options) {
  const driver::RunOptions o = run_options(launch, flags, options);
  return target.kernel ? run_kernel(device, *target.kernel, launch, o)
                       : run_graph(device, target, launch, o);
}

}  // namespace vyre::cli
