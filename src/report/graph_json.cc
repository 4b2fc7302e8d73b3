#include "report/graph_json.h"

namespace vyre::report {
namespace {

using Json = nlohmann::ordered_json;

Json range_json(const LaunchRange& r) { return Json::array({r.first, r.second}); }

Json numbers(const std::vector<GraphBufferId>& ids) {
  Json list = Json::array();
  for (const GraphBufferId id : ids) list.push_back(id.value());
  return list;
}

Json launch_json(const GraphReport::Launch& l) {
  Json calls = Json::array(), elided = Json::array();
  for (const GraphReport::Call& c : l.calls)
    calls.push_back({{"node", c.node}, {"stage", c.stage}, {"kernel", c.kernel}});
  for (const GraphReport::Elided& e : l.elided)
    elided.push_back(
        {{"buffer", e.buffer.value()}, {"name", e.name}, {"bytes", e.bytes}, {"gone", e.is_gone}});
  return {
      {"node", l.node},
      {"kernel", l.kernel},
      {"depth", l.depth},
      {"calls", calls},
      {"joins", l.joins},
      {"elided", elided},
      {"reads", numbers(l.reads)},
      {"writes", numbers(l.writes)},
      {"traffic_bytes", l.traffic_bytes},
      {"grid", l.grid},
      {"num_workgroups", l.num_workgroups},
      {"avoided_bytes", l.avoided_bytes},
      {"runs", l.runs},
      {"time",
       {{"count", l.times}, {"total_ns", l.total_ns}, {"min_ns", l.min_ns}, {"max_ns", l.max_ns}}},
      {"live_bytes", l.live_bytes},
      {"slot_bytes", l.slot_bytes}};
}

Json live_json(const GraphReport::Intermediate& b) {
  Json live = Json::array();
  for (const LaunchRange& r : b.live) live.push_back(range_json(r));
  return live;
}

Json memory_json(const GraphReport& g) {
  Json placement = Json::array(), gone = Json::array(), clears = Json::array();
  for (const GraphReport::Intermediate& b : g.placed) {
    const bool shares = b.at.slot != plan::Placement::own;
    placement.push_back({{"buffer", b.buffer.value()},
                         {"name", b.name},
                         {"bytes", b.bytes},
                         {"allocated", b.allocated},
                         {"slot", shares ? Json(b.at.slot) : Json()},
                         {"offset", b.at.offset},
                         {"live", live_json(b)}});
  }
  for (const GraphReport::Intermediate& b : g.gone)
    gone.push_back({{"buffer", b.buffer.value()},
                    {"name", b.name},
                    {"bytes", b.bytes},
                    {"allocated", b.allocated},
                    {"live", live_json(b)}});
  for (const GraphReport::Clear& c : g.clears)
    clears.push_back({{"launch", c.launch}, {"buffer", c.buffer.value()}, {"name", c.name}});
  return {{"peak", g.peak},
          {"peak_unplanned", g.peak_unplanned},
          {"parameters", g.parameters},
          {"scratch", g.scratch},
          {"slots", g.slots},
          {"placement", placement},
          {"gone", gone},
          {"clears", clears},
          {"before", g.before},
          {"after", g.after},
          {"live_sum", g.live_sum}};
}

}  // namespace

Json graph_json(const GraphReport& g) {
  Json launches = Json::array(), loops = Json::array(), refusals = Json::array();
  Json buffers = Json::array();
  for (const GraphReport::Launch& l : g.launches) launches.push_back(launch_json(l));
  for (const GraphReport::Buffer& b : g.buffers)
    buffers.push_back({{"buffer", b.buffer.value()},
                       {"name", b.name},
                       {"bytes", b.bytes},
                       {"input", b.is_input},
                       {"output", b.is_output}});
  for (const GraphReport::Loop& l : g.loops)
    loops.push_back(
        {{"kind", l.is_while ? "while" : "repeat"}, {"launches", range_json(l.launches)}});
  for (const GraphReport::Refusal& r : g.refusals)
    refusals.push_back({{"node", r.node}, {"stage", r.stage}, {"why", r.why}});
  return {{"plan_ns", g.plan_ns},
          {"calls", g.calls},
          {"ran", g.ran},
          {"timed", g.timed},
          {"executed",
           {{"calls", g.executed.calls},
            {"launches", g.executed.launches},
            {"avoided_launches", g.executed.avoided_launches},
            {"avoided_bytes", g.executed.avoided_bytes},
            {"traffic_bytes", g.executed.traffic_bytes}}},
          {"launches", launches},
          {"buffers", buffers},
          {"loops", loops},
          {"refusals", refusals},
          {"avoided_launches", g.avoided_launches},
          {"avoided_bytes", g.avoided_bytes},
          {"memory", memory_json(g)}};
}

}  // namespace vyre::report
