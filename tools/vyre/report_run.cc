#include "tools/vyre/report_run.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "opt/analysis/effects.h"
#include "runtime/cache/cache.h"
#include "runtime/compile/bandwidth.h"
#include "support/version.h"
#include "text/lower/literal.h"
#include "tools/vyre/element_text.h"

namespace vyre::cli {
namespace {

constexpr size_t max_pictures = 4;

/// Returns the grid of a kernel, or of the last launch of a graph that wrote the output with a
/// two-dimensional grid.
std::array<uint64_t, 3> grid_of(const report::RunReport& report, uint32_t buffer) {
  if (!report.graph) return report.grid;
  std::array<uint64_t, 3> grid = {0, 0, 0};
  for (const report::GraphReport::Launch& l : report.graph->launches) {
    const bool writes = std::count(l.writes.begin(), l.writes.end(), GraphBufferId(buffer)) > 0;
    if (writes && l.runs > 0 && l.grid[1] > 1) grid = l.grid;
  }
  return grid;
}

}  // namespace

void describe_host(report::RunReport& report) {
  report.vyre = library_version();
  report.commit = library_revision();
  utsname system = {};
  if (::uname(&system) == 0) {
    report.host = system.nodename;
    report.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  std::array<char, 32> text = {};
  if (::gmtime_r(&now, &utc))
    report.date = {text.data(),
                   std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

uint64_t kernel_traffic(const Program& kernel, const std::vector<uint64_t>& counts) {
  const opt::EffectSummary effects = opt::Effects(kernel).of_program();
  uint64_t bytes = 0;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (!is_parameter(kernel.buffers[i].role) || kernel.buffers[i].role == Role::Scalar) continue;
    const uint64_t passes = (effects.reads >> i & 1) + (effects.writes >> i & 1);
    bytes += passes * counts[i] * size_of(kernel.buffers[i].element);
  }
  return bytes;
}

void describe_launch(const report::RunReport& report, report::Span& span) {
  span.kernel = span.name;
  if (span.launch == report::Span::no_launch) {
    span.grid = report.grid;
    span.num_workgroups = report.num_workgroups;
    span.bytes = report.traffic_bytes;
    return;
  }
  const report::GraphReport::Launch& launch = report.graph->launches[span.launch];
  span.grid = launch.grid;
  span.num_workgroups = launch.num_workgroups;
  span.bytes = launch.traffic_bytes;
}

void describe_outputs(report::RunReport& report, const Target& target, const DeviceRun& ran,
                      bool pictures) {
  for (size_t i = 0; i < target.parameters.size(); ++i) {
    const Parameter& p = target.parameters[i];
    if (!is_host_output(p.role)) continue;
    const Bytes& bytes = ran.result.buffers[p.buffer];
    const uint64_t count = bytes.size() / size_of(p.element);
    for (uint64_t e = 0; e < std::min(count, report::shown_values); ++e)
      report.buffers[i].values.push_back(
          text::print_value(p.element, element_bits(p.element, bytes, e)));
    if (!pictures || report.pictures.size() == max_pictures) continue;
    if (auto picture = report::find_picture(p.name, p.element, bytes, grid_of(report, p.buffer)))
      report.pictures.push_back(std::move(*picture));
  }
}

void measure_bandwidth(report::RunReport& report) {
  driver::Bandwidth measured = driver::measured_bandwidth(report.backend, report.device_index,
                                                          driver::CacheOptions::from_environment());
  report.device_bandwidth = measured.bytes_per_second;
  report.not_measured = std::move(measured.failure);
}

}  // namespace vyre::cli
