#include "tools/vyre/json_output.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "opt/profile_file.h"
#include "support/json.h"
#include "text/lower/literal.h"

namespace vyre::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string finish(const Json& value) {
  // Names and paths may hold any bytes: invalid UTF-8 becomes U+FFFD instead of an exception.
  return json_text(value, 2) + "\n";
}

Json list_of(const Diagnostics& list) { return parse_json<Json>(to_json(list)); }

/// A float is converted by way of its shortest text: 0.1 in f32 is 0.1 and not 0.10000000149011612,
/// and reads back to the same bits.
Json value_of(Type element, uint64_t bits) {
  if (element == Type::Bool) return bits != 0;
  if (is_signed(element)) {
    const uint32_t unused = 64 - width_of(element);
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  if (is_unsigned(element)) return bits;
  std::string text = text::print_value(element, bits);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (!std::isfinite(number)) return text;
  return number;
}

Json output_of(const Parameter& p, const Bytes& bytes, uint64_t most) {
  const uint64_t count = bytes.size() / size_of(p.element);
  Json out;
  out["name"] = p.name;
  out["type"] = name(p.element);
  out["count"] = count;
  Json& values = out["values"] = Json::array();
  for (uint64_t i = 0; i < std::min(count, most); ++i)
    values.push_back(value_of(p.element, element_bits(p.element, bytes, i)));
  return out;
}

std::string_view word(Severity s) {
  return s == Severity::Error ? "error" : s == Severity::Warning ? "warning" : "note";
}

/// By name; a name that occurs more than once has a list.
Json properties_of(const driver::DeviceInfo& d) {
  Json properties = Json::object();
  for (const auto& [name, value] : d.properties) {
    Json& p = properties[name];
    if (p.is_string()) p = Json::array({p});
    if (p.is_array())
      p.push_back(value);
    else
      p = value;
  }
  return properties;
}

std::string_view type_of(const driver::DeviceOption& o) {
  switch (o.type) {
    case driver::DeviceOption::Type::Flag: return "flag";
    case driver::DeviceOption::Type::Integer: return "integer";
    case driver::DeviceOption::Type::Word: return "word";
    case driver::DeviceOption::Type::Text: return "text";
  }
  return "";
}

/// The options of every device, and the device's own.
Json options_of(const driver::DeviceInfo& d) {
  Json options = Json::array();
  for (const auto& table : {driver::name_options(), driver::common_options(), d.options})
    for (const driver::DeviceOption& o : table)
      options.push_back({{"name", o.name},
                         {"type", type_of(o)},
                         {"range", range_of(o)},
                         {"sentence", o.sentence}});
  return options;
}

Json device_of(const driver::DeviceInfo& d) {
  const driver::DeviceLimits& l = d.limits;
  return {{"index", d.index},
          {"name", d.name},
          {"target", d.target},
          {"driver_version", d.driver_version},
          {"limits",
           {{"workgroup_invocations", l.workgroup_invocations},
            {"shared_bytes", l.shared_bytes},
            {"buffer_bytes", l.buffer_bytes},
            {"memory_bytes", l.memory_bytes},
            {"subgroup_sizes", l.subgroup_sizes},
            {"default_subgroup_size", l.default_subgroup_size},
            {"native_grid_barrier", l.native_grid_barrier},
            {"forward_progress", l.forward_progress}}},
          {"options", options_of(d)},
          {"properties", properties_of(d)}};
}

}  // namespace

std::string report_json(const Diagnostics& list) {
  Json out;
  out["ok"] = !has_errors(list);
  out["diagnostics"] = list_of(list);
  return finish(out);
}

std::string run_json(const Target& target, const report::RunReport& report,
                     const ResultRequests& requests, const Launch& launch, const RunResult& result,
                     uint64_t first) {
  Json out;
  out["ok"] = true;
  out["backend"] = report.backend;
  out["device"] = {{"index", report.device_index}, {"name", report.device}};
  out["chosen_because"] = report.chosen_because;
  out["subgroup_size"] = report.subgroup_size;
  out["name"] = target.name();
  out["kind"] = target.kind();
  Json& outputs = out["outputs"] = Json::array();
  for (const PrintRequest& r : requests.print)
    outputs.push_back(output_of(r.parameter, bytes_of(r.parameter, launch, result),
                                r.first.value_or(~uint64_t{0})));
  if (requests.print.empty())
    for (const Parameter& p : target.parameters)
      if (is_host_output(p.role)) outputs.push_back(output_of(p, result.buffers[p.buffer], first));
  const report::Summary time = report::summarize(report.device_ns);
  out["time"] = {{"runs", report.device_ns.size()},
                 {"min_seconds", static_cast<double>(time.min_ns) / 1e9},
                 {"median_seconds", static_cast<double>(time.median_ns) / 1e9}};
  out["diagnostics"] = list_of(report.diagnostics);
  return finish(out);
}

std::string opt_json(std::span<const OptimizedKernel> kernels) {
  Json out;
  out["ok"] = true;
  Json& list = out["kernels"] = Json::array();
  for (const OptimizedKernel& k : kernels) {
    list.push_back(parse_json<Json>(opt::to_json(k.report)));
    list.back()["text"] = k.text;
  }
  out["diagnostics"] = Json::array();
  return finish(out);
}

std::string bisect_json(const BisectOutcome& o) {
  Json out;
  out["ok"] = o.diagnostics.empty();
  out["runs"] = o.runs;
  out["run"] = o.run;
  out["pass"] = o.pass;
  out["iteration"] = o.iteration;
  out["kernel"] = o.kernel;
  out["before"] = o.before;
  out["diagnostics"] = list_of(o.diagnostics);
  return finish(out);
}

std::string reduce_json(const ReduceSummary& s, const reduce::Outcome& o,
                        const Diagnostics& diagnostics) {
  Json out;
  out["ok"] = !has_errors(diagnostics);
  out["kind"] = s.kind;
  out["stopped"] = s.stopped;
  out["out_of_time"] = s.out_of_time;
  out["ops_before"] = o.progress.ops_before;
  out["ops"] = o.progress.ops;
  out["candidates"] = o.progress.candidates;
  out["accepted"] = o.progress.accepted;
  out["rounds"] = o.progress.round;
  out["seconds"] = s.seconds;
  Json& transforms = out["transforms"] = Json::array();
  for (const reduce::TransformCount& t : o.transforms)
    transforms.push_back({{"name", t.name}, {"tried", t.tried}, {"accepted", t.accepted}});
  out["text"] = s.text;
  out["diagnostics"] = list_of(diagnostics);
  return finish(out);
}

std::string check_json(const Module& module, size_t kernels, size_t graphs, bool ok,
                       const Diagnostics& diagnostics) {
  Json out;
  out["ok"] = ok;
  out["kernels"] = Json::array();
  out["graphs"] = Json::array();
  for (size_t i = 0; i < kernels; ++i) out["kernels"].push_back(module.kernels[i].name);
  for (size_t i = 0; i < graphs; ++i) out["graphs"].push_back(module.graphs[i].name);
  out["diagnostics"] = list_of(diagnostics);
  return finish(out);
}

std::string codes_json(std::span<const CodeInfo> codes) {
  Json out = Json::array();
  for (const CodeInfo& c : codes)
    out.push_back({{"code", to_string(c.code)},
                   {"name", c.name},
                   {"severity", word(c.severity)},
                   {"title", c.title},
                   {"page", c.page}});
  return finish(out);
}

std::string backends_json(std::span<const driver::Probed> backends) {
  Json out;
  Json& list = out["backends"] = Json::array();
  for (const driver::Probed& b : backends) {
    Json devices = Json::array();
    for (const driver::DeviceInfo& d : b.devices) devices.push_back(device_of(d));
    list.push_back({{"name", b.entry.name},
                    {"summary", b.entry.summary},
                    {"available", !b.devices.empty()},
                    {"why", b.devices.empty() ? b.why_none : ""},
                    {"devices", devices}});
  }
  return finish(out);
}

std::string fuzz_json(uint64_t first_seed, const lab::FuzzSummary& summary) {
  const lab::FuzzStatus& s = summary.status;
  Json out;
  out["ok"] = summary.findings.empty();
  out["stopped"] = summary.stopped;
  out["first_seed"] = first_seed;
  out["next_seed"] = s.seed;
  out["programs"] = s.programs;
  out["runs"] = s.runs;
  out["failing"] = s.failing;
  out["seconds"] = s.seconds;
  out["per_second"] = s.seconds > 0 ? static_cast<double>(s.programs) / s.seconds : 0.0;
  Json& findings = out["findings"] = Json::array();
  for (const lab::Finding& f : summary.findings) {
    Json one;
    one["seed"] = f.seed;
    one["subject"] = f.subject;
    one["file"] = f.file;
    one["reduced"] = f.reduced;
    one["reduced_ops"] = f.reduced_ops;
    one["diagnostic"] = list_of({f.what})[0];
    findings.push_back(std::move(one));
  }
  Json& features = out["features"] = Json::object();
  for (const std::string_view name : lab::Coverage::feature_names()) {
    const auto it = summary.coverage.features().find(name);
    features[std::string(name)] = it == summary.coverage.features().end() ? 0 : it->second;
  }
  out["diagnostics"] = list_of(summary.file_errors);
  return finish(out);
}

}  // namespace vyre::cli
