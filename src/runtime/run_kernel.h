#pragma once

// Runs one kernel once, from host bytes to host bytes: compile, allocate, upload, launch, read
// back. `vyre run` uses it; programs that launch often keep their buffers on the device (device.h).

#include "runtime/device.h"

namespace vyre::driver {

/// The byte of RunOptions::dirty_outputs.
inline constexpr uint8_t dirty_byte = 0xa5;

struct RunOptions {
  CompileOptions compile;
  double time_limit = 0;  // seconds; each launch gets the time that compilation left
  uint64_t output_limit = 0;
  uint64_t memory_limit = 0;  // MemoryNeed::total(), and of a compilation; 0: the device's
  /// For graphs: how they are planned (GraphOptions).
  bool fuse = true, reuse = true;
  std::shared_ptr<const plan::GraphPlan> plan;
  /// The outputs that are read back, by buffer of the program or of the graph. Empty: all.
  std::vector<bool> outputs;
  /// Time each call of a graph and each launch of a split kernel separately. The device then
  /// records more events, and runs loops of a graph launch by launch. A device with telemetry
  /// always does.
  bool call_times = false;
  bool dirty_outputs =
      false;            // for tests: `out` buffers hold other bytes than zeros before each repeat
  uint32_t repeat = 1;  // each from the given inputs; restoring them is not timed
  /// Called at intervals from the calling thread with the share of the work that is done. With it
  /// the end of a launch is polled instead of waited for: up to 10 ms later.
  std::function<void(double fraction)> progress;
  /// Called with every kernel when it is ready to run, so that the optimizer's report is available
  /// even if the run then fails.
  std::function<void(const Executable&)> compiled;
};

/// An event of a trace: a stage on the host, or a launch on the device, which is taken to end when
/// the host learns of it.
struct RunEvent {
  std::string name;
  bool on_device = false;
  uint64_t begin_ns = 0;  // of std::chrono::steady_clock
  uint64_t ns = 0;
  uint32_t node = ~0u;  // for a graph's call: in the planned graph
  bool is_launch = false;
  uint64_t bytes = 0;  // of a copy
};
/// The maximum number of events, for the host and for the device each; later activity has no event.
inline constexpr size_t traced_events = 4096;

/// Wall time of the stages, nanoseconds.
struct StageTimes {
  uint64_t optimize = 0, emit = 0;  // emit: as far as the backend reports it
  uint64_t compile = 0;             // without these two
  uint64_t upload = 0, run = 0, readback = 0;
};

struct RunOutcome {
  /// By buffer index; filled for the InOut and Out buffers that RunOptions::outputs selects.
  PublicIdMap<BufferId, std::vector<std::byte>> buffers;
  LaunchShape shape;
  StageTimes times;                 // of the first repeat
  std::vector<uint64_t> device_ns;  // of the launch and of clearing its outputs, by repeat
  uint64_t uploaded = 0, read_back = 0;
  uint64_t device_bytes = 0;   // the largest use of device memory until the first repeat's end
  uint64_t working_bytes = 0;  // MemoryNeed::working, if there was a memory limit
  uint64_t segments =
      0;  // SubmitReport::launches of the last repeat: more than one if it was split
  uint32_t subgroup_size = 0;
  uint32_t coarse = 1;           // invocations whose work one did (transform/coarsen.h)
  std::string origin;            // of the code: compiled, memory cache, disk cache
  std::vector<RunEvent> events;  // in the order in which they began, those of the device last
};

/// Returns the limits for the compilations of a run that begins now; CompileOptions::limits if it
/// has none.
CompileLimits compile_limits(const RunOptions& options);

/// Runs the kernel. On an error nothing is returned, and the device's memory is freed.
Result<RunOutcome> run(Device& device, const Program& program, const LaunchInputs& inputs,
                       const RunOptions& options = {});

}  // namespace vyre::driver
