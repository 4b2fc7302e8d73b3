#include "opt/profile_file.h"

#include <fmt/format.h>

#include "opt/pass_selection.h"
#include "support/json.h"

namespace vyre::opt {
namespace {

using Json = nlohmann::ordered_json;

Json cost_json(const Cost& cost) {
  Json j;
  for (const CostField& f : cost_fields) j[std::string(f.name)] = cost.*f.value;
  return j;
}

Json run_json(const PassRun& run) {
  Json costs;
  for (const CostField& f : cost_fields)
    if (run.before.*f.value != run.after.*f.value)
      costs[std::string(f.name)] = {run.before.*f.value, run.after.*f.value};
  return {{"iteration", run.iteration},
          {"pass", run.pass},
          {"decision", name(run.decision)},
          {"ns", run.ns},
          {"refusals", run.refusals},
          {"refused", run.refused},
          {"effects", {{"before", run.effects_before}, {"after", run.effects_after}}},
          {"facts",
           {{"reused", run.facts_reused},
            {"recomputed", run.facts_recomputed},
            {"invalidated", run.facts_invalidated}}},
          {"before", cost_json(run.before)},
          {"after", cost_json(run.after)},
          {"changes", costs.is_null() ? Json::object() : costs}};
}

Json report_json(const RunReport& r) {
  Json choices = Json::array(), runs = Json::array();
  for (const PassChoice& c : r.choices)
    choices.push_back({{"pass", c.pass},
                       {"selected", c.selected},
                       {"reason", c.reason},
                       {"priority", c.priority},
                       {"detail", c.detail}});
  for (const PassRun& run : r.runs) runs.push_back(run_json(run));
  return {{"program", r.program},
          {"op_id", r.op_id},
          {"profile", r.profile},
          {"iterations", r.iterations},
          {"settled", r.settled},
          {"ns", r.ns},
          {"before", cost_json(r.before)},
          {"after", cost_json(r.after)},
          {"choices", choices},
          {"runs", runs}};
}

// Reading: nlohmann's typed access checks every field; a field that is missing or of another type
// throws, and the one catch below makes the diagnostic.

Cost read_cost(const Json& j) {
  Cost cost;
  for (const CostField& f : cost_fields)
    cost.*f.value = whole_number<uint64_t>(j.at(std::string(f.name)));
  return cost;
}

PassDecision read_decision(const std::string& text) {
  for (const PassDecision d :
       {PassDecision::NotDirty, PassDecision::NothingToDo, PassDecision::Unchanged,
        PassDecision::Changed, PassDecision::Refused})
    if (name(d) == text) return d;
  throw std::runtime_error(fmt::format("`{}` is no decision", text));
}

RunReport read_report(const Json& j) {
  RunReport r;
  r.program = j.at("program").get<std::string>();
  r.op_id = j.at("op_id").get<std::string>();
  r.profile = j.at("profile").get<std::string>();
  r.iterations = whole_number<uint32_t>(j.at("iterations"));
  r.settled = j.at("settled").get<bool>();
  r.ns = whole_number<uint64_t>(j.at("ns"));
  r.before = read_cost(j.at("before"));
  r.after = read_cost(j.at("after"));
  for (const Json& c : j.at("choices"))
    r.choices.push_back({c.at("pass").get<std::string>(), c.at("selected").get<bool>(),
                         c.at("reason").get<std::string>(),
                         whole_number<uint32_t>(c.at("priority")),
                         c.at("detail").get<std::string>()});
  for (const Json& run : j.at("runs")) {
    PassRun p;
    p.iteration = whole_number<uint32_t>(run.at("iteration"));
    p.pass = run.at("pass").get<std::string>();
    p.decision = read_decision(run.at("decision").get<std::string>());
    p.ns = whole_number<uint64_t>(run.at("ns"));
    p.before = read_cost(run.at("before"));
    p.after = read_cost(run.at("after"));
    r.runs.push_back(std::move(p));
  }
  return r;
}

}  // namespace

std::string to_json(const RunReport& report) {
  // Names may hold any bytes.
  return json_text(report_json(report), 2);
}

std::string write_profile(const ProfileData& data) {
  Json hints = Json::array(), reports = Json::object();
  for (const HotPathHints::Entry& e : data.hints.entries()) {
    Json h;
    if (!e.device.empty()) h["device"] = e.device;
    h["op_id"] = e.op_id;
    h["launches"] = e.launches;
    h["total_ns"] = e.total_ns;
    h["bytes"] = e.bytes;
    hints.push_back(std::move(h));
  }
  for (const auto& [fingerprint, report] : data.reports) reports[fingerprint] = report_json(report);
  const Json j = {{"schema", "vyre-profile"},
                  {"version", profile_version},
                  {"hints", hints},
                  {"reports", reports}};
  return json_text(j, 2) + "\n";
}

Result<> read_profile(std::string_view text, const std::string& file, ProfileData& data) {
  const auto bad = [&](std::string why) {
    return diagnose(Code::BadProfileFile, {file, 0, 0, 1}, fmt::format("{}: {}", file, why))
        .with_fix("write it anew with `--profile-out`, or leave `--profile-in` out");
  };
  try {
    const Json j = parse_json<Json>(text);
    if (!j.is_object() || j.value("schema", "") != "vyre-profile")
      return bad("it is not a profile of vyre");
    if (const auto version = whole_number<uint32_t>(j.at("version")); version != profile_version)
      return bad(fmt::format("it has version {}, this vyre reads {}", version, profile_version));
    std::vector<HotPathHints::Entry> hints;
    for (const Json& h : j.at("hints"))
      hints.push_back({h.at("op_id").get<std::string>(), whole_number<uint64_t>(h.at("launches")),
                       whole_number<uint64_t>(h.at("total_ns")),
                       whole_number<uint64_t>(h.at("bytes")),
                       // Files of earlier versions do not name the device.
                       h.contains("device") ? h["device"].get<std::string>() : ""});
    std::map<std::string, RunReport> reports;
    for (const auto& [fingerprint, report] : j.at("reports").items())
      reports[fingerprint] = read_report(report);
    for (const HotPathHints::Entry& h : hints) data.hints.add(h);
    for (auto& [fingerprint, report] : reports) data.reports[fingerprint] = std::move(report);
    return Ok{};
  } catch (const std::exception& e) {
    return bad(fmt::format("it is damaged: {}", e.what()));
  }
}

}  // namespace vyre::opt
