#pragma once

// Programs on a device of the runtime: `vyre fuzz` and `vyre certify` compare them with the
// interpreter.

#include "differential/device_spec.h"
#include "differential/differential.h"
#include "differential/observation.h"
#include "runtime/device.h"

namespace vyre::lab {

/// Returns whether a device may refuse a program with this code: limits and features that differ
/// between devices, all reported before anything runs (docs/conformance.md).
bool is_refusal(Code code);
const Diagnostic* refusal_in(const Diagnostics& errors);

/// One launch of a kernel or a graph.
struct DeviceLaunch {
  const Module* module = nullptr;
  const Program* kernel = nullptr;  // one of the two is set
  const Graph* graph = nullptr;
  const LaunchInputs* inputs = nullptr;
  driver::CompileOptions compile;
  double time_limit = 0;
  uint64_t output_limit = 0;
};

/// Bytes by buffer of the kernel or graph.
Result<std::vector<std::vector<std::byte>>> run_on_device(driver::Device& device,
                                                          const DeviceLaunch& launch);

/// The subgroup size on the device of the module's kernels that fix none. `compile` overrides the
/// device's choice.
uint32_t subgroup_size_on(const driver::Device& device, const driver::CompileOptions& compile);

/// Runs generated programs on the device, which stays open as long as the subject exists.
Subject device_subject(std::string name, driver::Device device,
                       const driver::CompileOptions& compile);

/// Opens the device of `spec`.
Result<Subject> open_subject(const DeviceSpec& spec, std::string name);

}  // namespace vyre::lab
