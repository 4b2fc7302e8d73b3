#pragma once

// The record of a run: stages with their times, bytes, launches, the origin of the code, the
// outcome. As JSON for programs (`vyre run --report F.json`), as a Chrome/Perfetto trace (`--trace
// F.json`), and as a page for readers (`--report F.html`, html_page.h). docs/schemas/ describes the
// first two, docs/command_line.md and docs/report.md explain them.

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

/// An interval on the time line: a stage or a launch.
struct Span {
  std::string name;
  std::string track;      // "host" or "device"
  uint64_t begin_ns = 0;  // since the start of the run
  uint64_t ns = 0;
  uint32_t launch = no_launch;  // for a graph: its index in GraphReport::launches
  // The arguments of a trace event.
  std::string kernel;                                                    // for a launch
  std::array<uint64_t, 3> grid = {0, 0, 0}, num_workgroups = {0, 0, 0};  // for a launch
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

/// This run's use of the compile cache.
struct CacheCounts {
  uint64_t memory_hits = 0, disk_hits = 0, misses = 0;
};

/// The compiled code of a kernel, as text.
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
  std::string chosen_because;  // for `auto`; "" if the device was named
  uint32_t coarse = 1;         // thread coarsening factor (transform/coarsen.h)
  uint32_t subgroup_size = 0;
  std::array<uint32_t, 3> workgroup = {0, 0, 0};
  std::array<uint64_t, 3> grid = {0, 0, 0};  // requested invocations of a kernel
  std::array<uint64_t, 3> num_workgroups = {0, 0, 0};
  std::array<uint64_t, stage_names.size()> stage_ns = {};  // host time; 0: it did not run
  std::vector<uint64_t> device_ns;                         // total of all launches, by repeat
  std::vector<Span> spans;                                 // for the trace
  std::vector<BufferLine> buffers;
  uint64_t uploaded = 0, read_back = 0, device_peak = 0;  // bytes; for the first repeat
  uint64_t traffic_bytes = 0;     // memory traffic of one repeat (docs/report.md)
  uint64_t device_bandwidth = 0;  // bytes per second, measured by a copy; 0: not measured
  std::string not_measured;       // why the device's bandwidth was not measured
  uint64_t launches = 0;          // kernels of one repeat: for a graph its calls
  uint64_t segments = 0;          // device launches of them: more where grid barriers split kernels
  std::optional<GraphReport> graph;       // for a graph: its plan, times and memory
  std::vector<opt::RunReport> optimizer;  // for each kernel, when it was first called
  std::string code_origin;                // "compiled", "memory cache", "disk cache"
  CacheCounts cache;
  bool verified = false;  // compared with a second run and found equal
  int exit_code = 0;      // of the command line
  Diagnostics diagnostics;

  // Only in pages, because programs and code are long. The texts of passes are in `optimizer`.
  std::vector<KernelCode> code;
  std::vector<Picture> pictures;  // of outputs
  Sources sources;

  uint64_t& stage(Stage s) { return stage_ns[static_cast<size_t>(s)]; }
};

/// The minimum and median of the repeats; for an even number the upper median.
struct Summary {
  uint64_t min_ns = 0, median_ns = 0, max_ns = 0;
};
Summary summarize(std::vector<uint64_t> ns);

/// The number of repeats that the report lists individually.
inline constexpr size_t listed_repeats = 1000;

/// "schema" in the file is the version of its format.
std::string to_json(const RunReport& report);

/// Events of the trace-event format: complete events ("X") in microseconds, one thread per track.
std::string to_trace(const RunReport& report);

}  // namespace vyre::report
