#include "report/run_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vyre::report {
namespace {

using Json = nlohmann::ordered_json;

/// Names come from programs and may hold anything.
std::string dump(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string to_json(const RunReport& r) {
  Json stages = Json::object();
  for (const Span& s : r.spans)
    if (s.track == "host") stages[s.name] = stages.value(s.name, uint64_t{0}) + s.ns;
  Json buffers = Json::array();
  for (const BufferLine& b : r.buffers)
    buffers.push_back({{"name", b.name}, {"role", b.role}, {"element", b.element}, {"count", b.count}, {"bytes", b.bytes}});
  std::vector<uint64_t> sorted = r.device_ns;
  std::sort(sorted.begin(), sorted.end());
  Json device = {{"runs", sorted.size()}};
  if (!sorted.empty()) {
    device["min_ns"] = sorted.front();
    device["median_ns"] = sorted[sorted.size() / 2];
    device["max_ns"] = sorted.back();
  }
  return dump({{"schema", 1},
               {"vyre", r.vyre},
               {"file", r.file},
               {"program", r.program},
               {"kind", r.is_graph ? "graph" : "kernel"},
               {"fingerprint", r.fingerprint},
               {"outcome", r.outcome},
               {"backend", r.backend},
               {"device", r.device},
               {"chosen_because", r.chosen_because},
               {"subgroup_size", r.subgroup_size},
               {"workgroup", r.workgroup},
               {"num_workgroups", r.num_workgroups},
               {"stages_ns", stages},
               {"device_ns", device},
               {"launches", r.launches},
               {"bytes", {{"uploaded", r.uploaded}, {"read_back", r.read_back}, {"device", r.device_bytes}}},
               {"code", {{"origin", r.code_origin}, {"cache_hit", r.code_origin.find("cache") != std::string::npos}}},
               {"buffers", buffers}});
}

std::string to_trace(const RunReport& r) {
  std::vector<std::string> tracks;
  const auto track = [&](const std::string& name) {
    const auto it = std::find(tracks.begin(), tracks.end(), name);
    if (it != tracks.end()) return int(it - tracks.begin()) + 1;
    tracks.push_back(name);
    return int(tracks.size());
  };
  Json events = Json::array();
  for (const Span& s : r.spans)
    events.push_back({{"name", s.name}, {"cat", s.track}, {"ph", "X"}, {"ts", double(s.begin_ns) / 1e3}, {"dur", double(s.ns) / 1e3}, {"pid", 1}, {"tid", track(s.track)}});
  for (size_t i = 0; i < tracks.size(); ++i)
    events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", i + 1}, {"args", {{"name", tracks[i]}}}});
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "vyre " + r.program}}}});
  return dump({{"displayTimeUnit", "ns"}, {"traceEvents", events}, {"otherData", {{"vyre", r.vyre}, {"device", r.device}}}});
}

}  // namespace vyre::report
