#include "differential/device_subject.h"

#include <algorithm>

#include "runtime/run_graph.h"
#include "runtime/run_kernel.h"

namespace vyre::lab {
namespace {

constexpr Code refusals[] = {Code::KernelTooLarge, Code::NeedsForwardProgress, Code::MissingFeature,
                             Code::NotExact};

}  // namespace

bool is_refusal(Code code) {
  return std::find(std::begin(refusals), std::end(refusals), code) != std::end(refusals);
}

const Diagnostic* refusal_in(const Diagnostics& errors) {
  for (const Diagnostic& d : errors)
    if (is_refusal(d.code)) return &d;
  return nullptr;
}

Result<std::vector<std::vector<std::byte>>> run_on_device(driver::Device& device,
                                                          const DeviceLaunch& launch) {
  driver::RunOptions options;
  options.compile = launch.compile;
  options.time_limit = launch.time_limit;
  options.output_limit = launch.output_limit;
  options.dirty_outputs = true;  // the initial contents of an output must not matter
  if (launch.kernel) {
    auto outcome = driver::run(device, *launch.kernel, *launch.inputs, options);
    if (!outcome) return std::move(outcome.errors());
    return std::move(outcome->buffers);
  }
  auto outcome = driver::run_graph(device, *launch.module, *launch.graph,
                                   {launch.inputs->data, launch.inputs->lengths}, options);
  if (!outcome) return std::move(outcome.errors());
  return std::move(outcome->buffers);
}

uint32_t subgroup_size_on(const driver::Device& device, const driver::CompileOptions& compile) {
  return compile.subgroup_size ? compile.subgroup_size : device.info().limits.default_subgroup_size;
}

Subject device_subject(std::string name, driver::Device device,
                       const driver::CompileOptions& compile) {
  Subject s;
  s.name = std::move(name);
  s.subgroup_size = subgroup_size_on(device, compile);
  driver::CompileOptions options = compile;
  options.subgroup_size = s.subgroup_size;
  options.checked = true;  // compare() does it once for all subjects
  s.run = [device, options](const Generated& g) mutable -> Result<Outputs> {
    DeviceLaunch launch;
    launch.module = &g.module;
    launch.kernel = g.is_graph() ? nullptr : &g.module.kernels[0];
    launch.graph = g.is_graph() ? &g.module.graphs[0] : nullptr;
    launch.inputs = &g.inputs;
    launch.compile = options;
    launch.time_limit = g.limits.seconds;
    auto got = run_on_device(device, launch);
    if (got) return Outputs{std::move(*got), "", ""};
    const Diagnostic& first = got.errors().front();
    if (first.code == Code::Trapped) return Outputs{{}, first.message, ""};
    if (const Diagnostic* refused = refusal_in(got.errors()))
      return Outputs{{}, "", to_string(refused->code)};
    return std::move(got.errors());
  };
  return s;
}

Result<Subject> open_subject(const DeviceSpec& spec, std::string name) {
  auto device = driver::Device::open(spec.text, spec.open);
  if (!device) return std::move(device.errors());
  return device_subject(std::move(name), std::move(*device), spec.compile);
}

}  // namespace vyre::lab
