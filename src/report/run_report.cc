#include "report/run_report.h"

#include <algorithm>

#include "opt/profile_file.h"
#include "report/graph_json.h"
#include "support/json.h"

namespace vyre::report {
namespace {

using Json = nlohmann::ordered_json;

/// Names and paths may hold any bytes: invalid UTF-8 becomes U+FFFD instead of an exception.
std::string dump(const Json& j) { return json_text(j, 2) + "\n"; }

Json stages_of(const RunReport& r) {
  Json stages = Json::object();
  for (size_t i = 0; i < stage_names.size(); ++i)
    stages[std::string(stage_names[i])] = r.stage_ns[i];
  return stages;
}

Json buffers_of(const RunReport& r) {
  Json buffers = Json::array();
  for (const BufferLine& b : r.buffers)
    buffers.push_back({{"name", b.name},
                       {"role", b.role},
                       {"element", b.element},
                       {"count", b.count},
                       {"bytes", b.bytes},
                       {"values", b.values}});
  return buffers;
}

/// Memory traffic and bandwidth; the rate is that of the median repeat.
Json bandwidth_of(const RunReport& r) {
  const uint64_t ns = summarize(r.device_ns).median_ns;
  const double rate =
      ns == 0 ? 0 : static_cast<double>(r.traffic_bytes) * 1e9 / static_cast<double>(ns);
  return {{"traffic_bytes", r.traffic_bytes},
          {"bytes_per_second", static_cast<uint64_t>(std::min(rate, 1e18))},
          {"device_bytes_per_second", r.device_bandwidth},
          {"not_measured", r.not_measured}};
}

Json device_times_of(const RunReport& r) {
  const Summary s = summarize(r.device_ns);
  const auto listed = static_cast<std::ptrdiff_t>(std::min(r.device_ns.size(), listed_repeats));
  return {{"repeats", r.device_ns.size()},
          {"min_ns", s.min_ns},
          {"median_ns", s.median_ns},
          {"max_ns", s.max_ns},
          {"each_ns", std::vector<uint64_t>(r.device_ns.begin(), r.device_ns.begin() + listed)}};
}

Json optimizer_of(const RunReport& r) {
  Json list = Json::array();
  for (const opt::RunReport& kernel : r.optimizer)
    list.push_back(parse_json<Json>(opt::to_json(kernel)));
  return list;
}

/// Empty for spans that are neither launches nor copies.
Json arguments_of(const Span& s) {
  Json arguments = Json::object();
  if (!s.kernel.empty()) {
    arguments["kernel"] = s.kernel;
    arguments["grid"] = s.grid;
    arguments["workgroups"] = s.num_workgroups;
  }
  if (s.bytes != 0) arguments["bytes"] = s.bytes;
  return arguments;
}

Json metadata(const char* what, int tid, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", tid}, {"args", {{"name", name}}}};
}

}  // namespace

Summary summarize(std::vector<uint64_t> ns) {
  if (ns.empty()) return {};
  std::sort(ns.begin(), ns.end());
  return {ns.front(), ns[ns.size() / 2], ns.back()};
}

std::string to_json(const RunReport& r) {
  Json j;
  j["schema"] = 1;
  j["vyre"] = r.vyre;
  j["commit"] = r.commit;
  j["host"] = {{"name", r.host}, {"system", r.system}};
  j["date"] = r.date;
  j["command"] = r.command;
  j["outcome"] = r.exit_code == 0 ? "done" : "failed";
  j["exit_code"] = r.exit_code;
  j["file"] = r.file;
  j["program"] = r.program;
  j["kind"] = r.is_graph ? "graph" : "kernel";
  j["fingerprint"] = r.fingerprint;
  j["backend"] = r.backend;
  j["device"] = {{"index", r.device_index}, {"name", r.device}};
  j["chosen_because"] = r.chosen_because;
  j["subgroup_size"] = r.subgroup_size;
  j["workgroup"] = r.workgroup;
  j["grid"] = r.grid;
  j["num_workgroups"] = r.num_workgroups;
  j["stages_ns"] = stages_of(r);
  j["optimizer"] = optimizer_of(r);
  j["device_time"] = device_times_of(r);
  j["bandwidth"] = bandwidth_of(r);
  j["launches"] = r.launches;
  j["segments"] = r.segments;
  j["coarse"] = r.coarse;
  j["bytes"] = {
      {"uploaded", r.uploaded}, {"read_back", r.read_back}, {"device_peak", r.device_peak}};
  j["code"] = {{"origin", r.code_origin},
               {"cache",
                {{"memory_hits", r.cache.memory_hits},
                 {"disk_hits", r.cache.disk_hits},
                 {"misses", r.cache.misses}}}};
  j["buffers"] = buffers_of(r);
  if (r.graph) j["graph"] = graph_json(*r.graph);
  j["verified"] = r.verified;
  j["diagnostics"] = parse_json<Json>(vyre::to_json(r.diagnostics));
  return dump(j);
}

std::string to_trace(const RunReport& r) {
  // Both tracks exist even if one is empty, the host's above the device's.
  std::vector<std::string> tracks = {"host", "device"};
  const auto track = [&](const std::string& name) {
    const auto it = std::find(tracks.begin(), tracks.end(), name);
    if (it != tracks.end()) return static_cast<int>(it - tracks.begin()) + 1;
    tracks.push_back(name);
    return static_cast<int>(tracks.size());
  };
  Json events = Json::array();
  for (const Span& s : r.spans)
    events.push_back({{"name", s.name},
                      {"cat", s.track},
                      {"ph", "X"},
                      {"ts", static_cast<double>(s.begin_ns) / 1e3},
                      {"dur", static_cast<double>(s.ns) / 1e3},
                      {"pid", 1},
                      {"tid", track(s.track)},
                      {"args", arguments_of(s)}});
  events.push_back(metadata("process_name", 0, "vyre " + r.program));
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool is_device = tracks[i] == "device" && !r.device.empty();
    events.push_back(metadata("thread_name", static_cast<int>(i) + 1,
                              is_device ? "device: " + r.device : tracks[i]));
  }
  Json j;
  j["displayTimeUnit"] = "ns";
  j["traceEvents"] = std::move(events);
  j["otherData"] = {{"vyre", r.vyre}, {"commit", r.commit},   {"host", r.host},
                    {"date", r.date}, {"backend", r.backend}, {"device", r.device}};
  return dump(j);
}

}  // namespace vyre::report
