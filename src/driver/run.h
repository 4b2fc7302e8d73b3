#pragma once

// One kernel, once, from host bytes to host bytes: compile, allocate, upload, launch, read back.
// What `vyre run` does; programs that launch often keep their buffers on the device (device.h).

#include "driver/device.h"

namespace vyre::driver {

struct RunOptions {
  CompileOptions compile;
  double time_limit = 0;
  uint64_t output_limit = 0;
  uint32_t repeat = 1;  // each from the given inputs; restoring them is not timed
};

/// Wall time of the stages, nanoseconds.
struct StageTimes {
  uint64_t compile = 0, upload = 0, run = 0, readback = 0;
};

struct RunOutcome {
  std::vector<std::vector<std::byte>> buffers;  // by buffer index; filled for InOut and Out
  LaunchShape shape;
  StageTimes times;                // of the first repeat
  std::vector<uint64_t> device_ns; // of the launch, by repeat
  uint64_t uploaded = 0, read_back = 0;
  uint64_t device_bytes = 0;       // all buffers
  uint32_t subgroup_size = 0;
  std::string origin;              // of the code: compiled, memory cache, disk cache
};

/// On an error nothing is returned, and the device's memory is given back.
Result<RunOutcome> run(Device& device, const Program& program, const LaunchInputs& inputs, const RunOptions& options = {});

}  // namespace vyre::driver
