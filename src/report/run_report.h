#pragma once

// What a run was: stages with their times, bytes, launches, where the code came from, how it ended.
// As JSON for programs (`vyre run --report F.json`), as a Chrome/Perfetto trace (`--trace F.json`),
// and as a page for people (`--report F.html`, html_page.h). docs/schemas/ describes the first two,
// docs/command_line.md and docs/report.md explain them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "diagnostics/listing.h"
#include "opt/opt_report.h"
#include "report/graph_report.h"
#include "report/picture.h"

namespace vyre::report {

/// The stages of a run in their order. Open: choosing the device and opening it.
enum class Stage : uint8_t { Open, Parse, Check, Optimize, Emit, Compile, Upload, Run, Readback };
inline constexpr std::array<std::string_view, 9> stage_names = {
    "open", "parse", "check", "optimize", "emit", "compile", "upload", "run", "readback"};

/// Something on the time line: a stage, a launch.
struct Span {
  std::string name;
  std::string track;      // "host" or "device"
  uint64_t begin_ns = 0;  // since the run's own start
  uint64_t ns = 0;
  uint32_t launch = no_launch;  // of a graph: which one, by place in GraphReport::launches
  // The arguments of a trace event.
  std::string kernel;                                                    // of a launch
  std::array<uint64_t, 3> grid = {0, 0, 0}, num_workgroups = {0, 0, 0};  // of a launch
  uint64_t bytes = 0;  // copied, or the memory traffic of a launch
  static constexpr uint32_t no_launch = ~0u;
};

struct BufferLine {
  std::string name;
  std::string role;
  std::string element;
  uint64_t count = 0;
  uint64_t bytes = 0;
  std::vector<std::string> values;  // the first elements of an output that was read back
};
/// The elements that a report shows of each output.
inline constexpr uint64_t shown_values = 16;

/// Of the compile cache, by this run.
struct CacheCounts {
  uint64_t memory_hits = 0, disk_hits = 0, misses = 0;
};

/// What a kernel became on the device, to read.
struct KernelCode {
  std::string kernel;
  bool is_program = false;        // the device runs the program itself
  std::vector<Listing> segments;  // more than one where grid barriers split it
};

struct RunReport {
  std::string vyre;                  // version
  std::string commit;                // library_revision()
  std::string host;                  // name of the machine
  std::string system;                // "Linux 6.1.0 x86_64"
  std::string date;                  // when the run began: "2026-01-31T12:00:00Z"
  std::vector<std::string> command;  // the words after `vyre`
  std::string file;
  std::string program;  // kernel or graph
  bool is_graph = false;
  std::string fingerprint;
  std::string backend;
  uint32_t device_index = 0;
  std::string device;
  std::string chosen_because;  // of `auto`; "" if it was named
  uint32_t coarse = 1;         // invocations that one did the work of (transform/coarsen.h)
  uint32_t subgroup_size = 0;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  std::array<uint64_t, 3> grid = {0, 0, 0};  // invocations of a kernel that are asked for
  std::array<uint64_t, 3> num_workgroups = {0, 0, 0};
  std::array<uint64_t, stage_names.size()> stage_ns = {};  // host time; what did not happen is 0
  std::vector<uint64_t> device_ns;                         // of all launches, by repeat
  std::vector<Span> spans;                                 // for the trace
  std::vector<BufferLine> buffers;
  uint64_t uploaded = 0, read_back = 0, device_peak = 0;  // bytes; of the first repeat
  uint64_t traffic_bytes = 0;     // memory traffic of one repeat (docs/report.md)
  uint64_t device_bandwidth = 0;  // bytes per second, measured by a copy; 0: not measured
  std::string not_measured;       // why the device's bandwidth was not measured
  uint64_t launches = 0;          // kernels of one repeat: for a graph its calls
  uint64_t segments = 0;  // what they became on the device: more where grid barriers split them
  std::optional<GraphReport> graph;       // of a graph that ran: its plan, times and memory
  std::vector<opt::RunReport> optimizer;  // of each kernel, when it was first called
  std::string code_origin;                // "compiled", "memory cache", "disk cache"
  CacheCounts cache;
  bool verified = false;  // compared with a second run, and equal
  int exit_code = 0;      // of the command line
  Diagnostics diagnostics;

  // Only in pages: programs and code are long. Those of the passes are in `optimizer`.
  std::vector<KernelCode> code;
  std::vector<Picture> pictures;  // of outputs
  Sources sources;

  uint64_t& stage(Stage s) { return stage_ns[static_cast<size_t>(s)]; }
};

/// The smallest and the middle one of the repeats; of an even number the larger middle.
struct Summary {
  uint64_t min_ns = 0, median_ns = 0, max_ns = 0;
};
Summary summarize(std::vector<uint64_t> ns);

/// How many repeats the report lists one by one.
inline constexpr size_t listed_repeats = 1000;

/// "schema" in the file says the version of its form.
std::string to_json(const RunReport& report);

/// Events of the trace-event format: complete events ("X") in microseconds, one thread a track.
std::string to_trace(const RunReport& report);

}  // namespace vyre::report
