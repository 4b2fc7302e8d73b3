#include "plan/plan_file.h"

#include <fmt/format.h>

#include <charconv>

#include "support/json.h"

namespace vyre::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "vyre plan";

// ---- Writing.

Json buffers_json(const PlannedGraph& planned, const Graph& graph) {
  Json list = Json::array();
  for (const GraphBufferId i : graph.buffers.ids()) {
    const GraphBuffer& b = graph.buffers[i];
    const uint64_t count = planned.plan.counts[i];
    list.push_back({{"name", b.name},
                    {"role", b.parameter ? name(b.role) : "intermediate"},
                    {"type", name(b.element)},
                    {"count", count},
                    {"bytes", count * size_of(b.element)},
                    {"scalar", planned.plan.scalars[i]}});
  }
  return list;
}

Json launches_json(const PlannedGraph& planned, const Module& module, const Graph& graph,
                   const GraphSteps& steps) {
  Json list = Json::array();
  for (const FusionGroup& g : planned.plan.fusion.groups) {
    Json calls = Json::array(), joins = Json::array(), elided = Json::array();
    for (const uint32_t node : g.calls)
      calls.push_back({{"node", node},
                       {"stage", steps[node].stage},
                       {"kernel", module.kernels[steps[node].node->kernel].name}});
    for (const JoinKind k : g.joins) joins.push_back(name(k));
    for (const GraphBufferId b : g.elided)
      elided.push_back({{"buffer", b.value()}, {"name", graph.buffers[b].name}});
    list.push_back({{"calls", calls},
                    {"joins", joins},
                    {"elided", elided},
                    {"avoided_bytes", g.avoided_bytes}});
  }
  return list;
}

Json memory_json(const PlannedGraph& planned) {
  const ReusePlan& r = planned.plan.reuse;
  const Graph& g = planned.fused.graph();
  Json placement = Json::array(), clears = Json::array();
  for (const GraphBufferId i : r.placement.ids()) {
    const bool shares = r.placement[i].slot != Placement::own;
    placement.push_back({{"name", g.buffers[i].name},
                         {"bytes", planned.fused.shape.bytes(g, i)},
                         {"slot", shares ? Json(r.placement[i].slot) : Json()},
                         {"offset", r.placement[i].offset}});
  }
  for (const auto& [arm, buffer] : r.clears)
    clears.push_back({{"launch", arm}, {"buffer", buffer.value()}});
  return {{"slots", r.slot_bytes}, {"placement", placement}, {"clears", clears},
          {"before", r.before},    {"after", r.after},       {"live_sum", r.live_sum}};
}

// ---- Reading. A missing field or one of another kind throws; `where` names the part being read.

class Reader {
 public:
  explicit Reader(const Json& root) : root_(root) {}
  std::string where = "the file";

  GraphPlan read() {
    GraphPlan plan;
    where = "fingerprint";
    plan.graph = hash(root_.at("fingerprint").get<std::string>());
    where = "buffers";
    for (const Json& b : list(root_, "buffers")) {
      plan.counts.push_back(number(b, "count"));
      plan.scalars.push_back(number(b, "scalar"));
    }
    where = "launches";
    size_t i = 0;
    for (const Json& l : list(root_, "launches")) {
      where = fmt::format("launches[{}]", i++);
      plan.fusion.groups.push_back(group(l));
    }
    where = "avoided_launches";
    plan.fusion.avoided_launches = number(root_, "avoided_launches");
    plan.fusion.avoided_bytes = number(root_, "avoided_bytes");
    where = "memory";
    plan.reuse = reuse(root_.at("memory"));
    return plan;
  }

 private:
  /// Anything can be iterated, a number as a list of one.
  static const Json& list(const Json& j, const char* key) {
    const Json& v = j.at(key);
    if (!v.is_array()) throw std::runtime_error(fmt::format("`{}` is no list", key));
    return v;
  }
  static uint64_t number(const Json& j, const char* key) {
    const Json& v = j.at(key);
    if (!v.is_number_unsigned()) throw std::runtime_error(fmt::format("`{}` is no number", key));
    return v.get<uint64_t>();
  }
  static uint32_t small(const Json& j, const char* key) {
    const uint64_t n = number(j, key);
    if (n > ~0u) throw std::runtime_error(fmt::format("`{}` is too large", key));
    return uint32_t(n);
  }
  static Hash128 hash(const std::string& text) {
    Hash128 h;
    const char* const begin = text.data();
    if (text.size() != 32 || std::from_chars(begin, begin + 16, h.hi, 16).ptr != begin + 16 ||
        std::from_chars(begin + 16, begin + 32, h.lo, 16).ptr != begin + 32)
      throw std::runtime_error("it is no fingerprint of 32 digits");
    return h;
  }
  static JoinKind join(const std::string& text) {
    for (const JoinKind k :
         {JoinKind::Independent, JoinKind::SameInvocation, JoinKind::Recompute, JoinKind::Handoff})
      if (name(k) == text) return k;
    throw std::runtime_error(fmt::format("`{}` is no way to join", text));
  }
  static FusionGroup group(const Json& j) {
    FusionGroup g;
    for (const Json& c : list(j, "calls")) g.calls.push_back(small(c, "node"));
    for (const Json& k : list(j, "joins")) g.joins.push_back(join(k.get<std::string>()));
    for (const Json& b : list(j, "elided")) g.elided.emplace_back(small(b, "buffer"));
    g.avoided_bytes = number(j, "avoided_bytes");
    return g;
  }
  ReusePlan reuse(const Json& j) {
    ReusePlan r;
    for (const Json& b : list(j, "slots")) {
      if (!b.is_number_unsigned()) throw std::runtime_error("a slot's size is no number");
      r.slot_bytes.push_back(b.get<uint64_t>());
    }
    for (const Json& p : list(j, "placement"))
      r.placement.push_back(
          {p.at("slot").is_null() ? Placement::own : small(p, "slot"), number(p, "offset")});
    for (const Json& c : list(j, "clears"))
      r.clears.emplace_back(small(c, "launch"), small(c, "buffer"));
    r.before = number(j, "before");
    r.after = number(j, "after");
    r.live_sum = number(j, "live_sum");
    return r;
  }

  const Json& root_;
};

Diagnostic damaged(const std::string& file, std::string what) {
  return diagnose(Code::PlanFileDamaged, {}, fmt::format("{}: {}", file, what))
      .with_fix("make the plan again: `vyre plan FILE:graph --json > p.json`");
}

}  // namespace

std::string write_plan(const PlannedGraph& planned, const Module& module, const Graph& graph) {
  const GraphSteps steps = flatten(graph);
  Json refusals = Json::array();
  for (const FusionRefusal& r : planned.plan.fusion.refusals)
    refusals.push_back({{"node", r.call}, {"stage", steps[r.call].stage}, {"why", r.why}});
  const Json j = {{"format", format_name},
                  {"version", plan_file_version},
                  {"graph", graph.name},
                  {"fingerprint", planned.plan.graph.to_hex()},
                  {"buffers", buffers_json(planned, graph)},
                  {"launches", launches_json(planned, module, graph, steps)},
                  {"refusals", refusals},
                  {"avoided_launches", planned.plan.fusion.avoided_launches},
                  {"avoided_bytes", planned.plan.fusion.avoided_bytes},
                  {"memory", memory_json(planned)}};
  // Names may hold any bytes.
  return json_text(j, 2) + "\n";
}

Result<GraphPlan> read_plan(std::string_view text, const std::string& file) {
  // Deep nesting is refused before the parser's stack is: a plan has five levels.
  const Json j = try_parse_json<Json>(text, 16);
  if (j.is_discarded() || !j.is_object()) return damaged(file, "this is no JSON object");
  const auto format = j.find("format"), version = j.find("version");
  if (format == j.end() || *format != format_name) return damaged(file, "this is no plan of vyre");
  if (version == j.end() || !version->is_number_integer() || *version != plan_file_version)
    return diagnose(
               Code::PlanFileVersion, {},
               fmt::format("{}: the plan is of version {}; this vyre reads version {}", file,
                           version == j.end() ? "none" : json_text(*version), plan_file_version))
        .with_fix("make the plan again: `vyre plan FILE:graph --json > p.json`");
  Reader reader(j);
  try {
    return reader.read();
  } catch (const Json::exception&) {
    return damaged(file, fmt::format("`{}` is missing or of the wrong kind", reader.where));
  } catch (const std::exception& e) {
    return damaged(file, fmt::format("`{}`: {}", reader.where, e.what()));
  }
}

}  // namespace vyre::plan
