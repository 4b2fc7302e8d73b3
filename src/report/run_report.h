#pragma once

// What a run was: stages with their times, bytes, launches, where the code came from. As JSON for
// programs (`vyre run --report F.json`) and as a Chrome/Perfetto trace (`--trace F.json`).

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vyre::report {

/// One stage or event: parse, check, optimize, emit, compile, upload, run, readback, or a launch.
struct Span {
  std::string name;
  std::string track;      // "host" or "device"
  uint64_t begin_ns = 0;  // since the run's own start
  uint64_t ns = 0;
};

struct BufferLine {
  std::string name;
  std::string role;
  std::string element;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

struct RunReport {
  std::string vyre;     // version
  std::string file;
  std::string program;  // kernel or graph
  bool is_graph = false;
  std::string fingerprint;
  std::string backend;
  std::string device;
  std::string chosen_because;  // of `auto`
  uint32_t subgroup_size = 0;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  std::array<uint64_t, 3> num_workgroups = {0, 0, 0};
  std::vector<Span> spans;
  std::vector<uint64_t> device_ns;  // of the launch, by repeat
  std::vector<BufferLine> buffers;
  uint64_t uploaded = 0, read_back = 0, device_bytes = 0;
  uint64_t launches = 0;
  std::string code_origin;  // compiled, memory cache, disk cache
  std::string outcome = "done";
};

/// "schema" in the file says the version of its form.
std::string to_json(const RunReport& report);

/// Events of the trace-event format: complete events ("X") in microseconds, one thread a track.
std::string to_trace(const RunReport& report);

}  // namespace vyre::report
