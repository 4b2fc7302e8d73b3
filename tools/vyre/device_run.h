#pragma once

// Runs a kernel or a graph on a device of the driver, and reports time and memory.

#include <optional>

#include "runtime/registry.h"
#include "runtime/run_graph.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/execute.h"
#include "tools/vyre/launch_flags.h"

namespace vyre::cli {

/// `--backend NAME`. With `--schedule`, which only the interpreter can follow, `auto` is the
/// interpreter, and another backend is an error.
Result<driver::Choice> choose_backend(const std::string& name, const LaunchFlags& flags);

struct DeviceRun {
  RunResult result;
  std::vector<uint64_t> counts;  // elements, by buffer index
  std::array<uint64_t, 3> grid = {0, 0, 0}, num_workgroups = {0, 0, 0};  // of a kernel
  driver::StageTimes times;
  std::vector<uint64_t> device_ns;  // by repeat
  std::vector<driver::RunEvent> events;
  uint64_t uploaded = 0, read_back = 0, device_peak = 0;
  uint64_t working_bytes = 0;  // driver::MemoryNeed::working
  uint64_t launches = 0, segments = 0;
  uint32_t coarse = 1;         // of a kernel: invocations whose work one did
  uint32_t subgroup_size = 0;  // 0: a graph whose kernels all fix their own
  std::string origin;
  std::optional<driver::GraphRunOutcome> graph;  // of a graph: its plan and times by call
};

struct DeviceRunOptions {
  uint32_t repeat = 1;
  driver::Optimization optimize;
  bool planned = true;                          // graphs: fused, and intermediates share memory
  std::shared_ptr<const plan::GraphPlan> plan;  // this one
  std::vector<bool> outputs;                    // driver::RunOptions::outputs
  bool call_times = false;                      // driver::RunOptions::call_times
  std::function<void(const driver::Executable&)> compiled;  // called for every kernel
  std::function<void(double)> progress;
};

/// The flags of the launch that concern the device: subgroup size, schedule, limits.
Result<DeviceRun> run_on(driver::Device& device, const Target& target, const Launch& launch,
                         const LaunchFlags& flags, const DeviceRunOptions& options);

}  // namespace vyre::cli
