// Compares `graph` of a report with the plan of the run and with its measurements.

#include "report/graph_report.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <map>

#include "report/run_report.h"
#include "runtime/interp/interp_backend.h"
#include "runtime/run_graph.h"
#include "support/json.h"
#include "tests/report/graph_report_util.h"
#include "tests/report/schema_util.h"
#include "text/parse.h"

namespace vyre::report {
namespace {

using Json = nlohmann::json;

struct Ran {
  Module module;
  driver::GraphRunOutcome outcome;
  GraphReport report;

  const plan::PlannedGraph& planned() const { return outcome.graph.planned(); }
  Json json() const {
    RunReport r;
    r.is_graph = true;
    r.graph = report;
    const Json j = parse_json<Json>(to_json(r));
    EXPECT_EQ(schema_errors(read_schema("run_report"), j), std::vector<std::string>{});
    return j["graph"];
  }
};

Ran run(const std::string& text, uint64_t elements, uint32_t rounds, bool planned = true) {
  Ran ran;
  ParseOutcome parsed = parse(text);
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources);
  ran.module = std::move(*parsed.module);
  const Graph& graph = ran.module.graphs[0];
  interp::GraphInputs inputs;
  inputs.data.resize(graph.buffers.size());
  inputs.lengths.resize(graph.buffers.size());
  inputs.data[0].emplace(elements * 4);
  inputs.data[1].emplace(4);
  std::memcpy(inputs.data[1]->data(), &rounds, 4);
  driver::OpenOptions open;
  open.use_cache = false;
  Result<driver::Device> device = driver::Device::open(*driver::interp_backend(), 0, open);
  driver::RunOptions options;
  options.fuse = options.reuse = planned;
  options.call_times = true;
  auto outcome = driver::run_graph(*device, ran.module, graph, inputs, options);
  EXPECT_TRUE(outcome) << render(outcome.errors(), {});
  if (!outcome) return ran;
  ran.outcome = std::move(*outcome);
  GraphRunFacts facts;
  facts.plan_ns = ran.outcome.graph.plan_ns();
  facts.device_peak = ran.outcome.device_bytes;
  facts.parameters = ran.outcome.graph.memory().parameters;
  facts.scratch = ran.outcome.graph.memory().scratch;
  facts.intermediates = ran.outcome.graph.memory().intermediates;
  facts.unplanned_intermediates = ran.outcome.graph.unplanned_memory().intermediates;
  facts.runs = ran.outcome.runs;
  for (const driver::CallTime& c : ran.outcome.call_ns) facts.times.emplace_back(c.node, c.ns);
  ran.report = describe_graph(ran.planned(), ran.module, graph, facts);
  return ran;
}

TEST(graph_report, has_what_each_launch_loads_and_stores) {
  const Json j = run(pipeline_graph, 64, 3).json();
  std::map<std::string, uint64_t> numbers;
  for (const Json& b : j["buffers"]) {
    numbers[b["name"]] = b["buffer"];
    EXPECT_EQ(b["bytes"], 256) << b;
    EXPECT_EQ(b["input"], b["name"] == "x") << b;
    EXPECT_EQ(b["output"], b["name"] == "result") << b;
  }
  EXPECT_EQ(numbers.size(), 6u);  // `a` and `f` are gone
  const auto list = [&](const char* name) { return Json::array({numbers.at(name)}); };
  const std::pair<const char*, const char*> of[] = {{"x", "b"}, {"b", "c"}, {"c", "d"},
                                                    {"d", "c"}, {"c", "e"}, {"e", "result"}};
  uint64_t traffic = 0;
  for (size_t i = 0; i < std::size(of); ++i) {
    const Json& l = j["launches"][i];
    EXPECT_EQ(l["reads"], list(of[i].first)) << i;
    EXPECT_EQ(l["writes"], list(of[i].second)) << i;
    EXPECT_EQ(l["traffic_bytes"], 512) << i;
    EXPECT_EQ(l["grid"], Json({64, 1, 1})) << i;
    EXPECT_EQ(l["num_workgroups"], Json({1, 1, 1})) << i;
    traffic += l["runs"].get<uint64_t>() * 512;
  }
  EXPECT_EQ(j["executed"]["traffic_bytes"], traffic);
  EXPECT_EQ(traffic, 10u * 512);
}

TEST(graph_report, has_no_grid_of_a_launch_whose_grid_the_device_computes) {
  constexpr const char* text = R"(
kernel size(x: in u32[], n: out u32[1]) workgroup(1) grid(1) { n[0] = len(x) / 2 }
kernel twice(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] *= 2 }
graph half(x: inout u32[], rounds: u32) {
  buffer n: u32[1]
  call size(x, n)
  call twice(x) grid(n[0])
}
)";
  const Json j = run(text, 64, 1, false).json();
  EXPECT_EQ(j["launches"][0]["grid"], Json({1, 1, 1}));
  EXPECT_EQ(j["launches"][1]["grid"], Json({0, 0, 0}));
  EXPECT_EQ(j["launches"][1]["runs"], 1);
}

TEST(graph_report, has_the_launches_of_the_plan) {
  const Ran r = run(pipeline_graph, 64, 3);
  const Json j = r.json();
  const plan::FusionPlan& fusion = r.planned().plan.fusion;
  ASSERT_EQ(j["launches"].size(), fusion.groups.size());
  ASSERT_LT(fusion.groups.size(), 8u);  // something was joined
  const GraphSteps steps = flatten(r.module.graphs[0]),
                   of_fused = flatten(r.planned().fused.graph());
  for (size_t i = 0; i < fusion.groups.size(); ++i) {
    const Json& l = j["launches"][i];
    const plan::FusionGroup& g = fusion.groups[i];
    ASSERT_EQ(l["calls"].size(), g.calls.size());
    for (size_t k = 0; k < g.calls.size(); ++k) {
      const GraphNode& node = *steps[g.calls[k]].node;
      EXPECT_EQ(l["calls"][k]["node"], g.calls[k]);
      EXPECT_EQ(l["calls"][k]["kernel"], r.module.kernels[node.kernel].name);
      if (k > 0) {
        EXPECT_EQ(l["joins"][k - 1], name(g.joins[k - 1]));
      }
    }
    EXPECT_EQ(l["elided"].size(), g.elided.size());
    EXPECT_EQ(l["avoided_bytes"], g.avoided_bytes);
    const GraphNode& planned = *of_fused[l["node"].get<size_t>()].node;
    EXPECT_EQ(l["kernel"], r.planned().fused.module.kernels[planned.kernel].name);
  }
  EXPECT_EQ(j["launches"][0]["calls"][1]["stage"], 2);
  EXPECT_EQ(j["launches"][0]["elided"][0],
            Json({{"buffer", 3}, {"name", "a"}, {"bytes", 256}, {"gone", true}}));
  EXPECT_EQ(j["avoided_bytes"], fusion.avoided_bytes);
  EXPECT_EQ(j["avoided_launches"], fusion.avoided_launches);
  ASSERT_EQ(j["refusals"].size(), fusion.refusals.size());
  ASSERT_FALSE(fusion.refusals.empty());
  EXPECT_EQ(j["refusals"][0]["why"], fusion.refusals[0].why);
  EXPECT_EQ(j["loops"], parse_json<Json>(R"([{"kind": "repeat", "launches": [2, 3]}])"));
  EXPECT_EQ(j["launches"][1]["depth"], 0);
  EXPECT_EQ(j["launches"][3]["depth"], 1);
  EXPECT_EQ(j["calls"], 8);
}

TEST(graph_report, sums_the_times_of_each_launch) {
  const Ran r = run(pipeline_graph, 64, 3);
  const Json j = r.json();
  EXPECT_EQ(j["ran"], 10);
  EXPECT_EQ(j["timed"], 10);
  uint64_t all = 0, sum = 0;
  for (const driver::CallTime& c : r.outcome.call_ns) all += c.ns;
  for (size_t i = 0; i < j["launches"].size(); ++i) {
    const Json& t = j["launches"][i]["time"];
    EXPECT_EQ(t["count"], i == 2 || i == 3 ? 3 : 1) << i;
    EXPECT_LE(t["min_ns"], t["max_ns"]);
    EXPECT_LE(t["count"].get<uint64_t>() * t["min_ns"].get<uint64_t>(), t["total_ns"]);
    sum += t["total_ns"].get<uint64_t>();
  }
  EXPECT_EQ(sum, all);
  // A loop that does not run has launches that did not.
  const Json none = run(pipeline_graph, 64, 0).json();
  EXPECT_EQ(none["launches"][2]["time"]["count"], 0);
  EXPECT_EQ(none["launches"][2]["time"]["min_ns"], 0);
}

TEST(graph_report, has_the_memory_with_and_without_the_plan) {
  const Ran r = run(pipeline_graph, 64, 3);
  const Json m = r.json()["memory"];
  const plan::ReusePlan& reuse = r.planned().plan.reuse;
  // Sizes are multiples of the alignment: rounding plays no part.
  EXPECT_EQ(m["peak"], r.outcome.device_bytes);
  EXPECT_EQ(m["peak_unplanned"], r.outcome.graph.unplanned_memory().total());
  EXPECT_EQ(m["peak"], 256 * 4);
  EXPECT_EQ(m["peak_unplanned"], 256 * 8);
  EXPECT_EQ(m["parameters"], 512);
  EXPECT_EQ(m["slots"], Json(reuse.slot_bytes));
  EXPECT_EQ(m["before"], reuse.before);
  EXPECT_EQ(m["after"], reuse.after);
  EXPECT_EQ(m["live_sum"], reuse.live_sum);
  ASSERT_EQ(m["placement"].size(), 4u);  // b, c, d, e
  EXPECT_EQ(m["gone"].size(), 2u);       // a, f
  EXPECT_EQ(m["gone"][0]["live"], parse_json<Json>("[[0, 0]]"));
  EXPECT_EQ(m["placement"][0]["live"], parse_json<Json>("[[0, 1]]"));  // b
  EXPECT_EQ(m["placement"][1]["live"], parse_json<Json>("[[1, 4]]"));  // c
  EXPECT_EQ(m["placement"][3]["live"], parse_json<Json>("[[4, 5]]"));  // e
}

TEST(graph_report, buffers_that_share_bytes_are_never_live_at_once) {
  const Ran r = run(pipeline_graph, 50, 2);  // 200 bytes, which take 256
  const Json j = r.json();
  const Json& placed = j["memory"]["placement"];
  std::vector<uint64_t> live(j["launches"].size()), top(live);
  for (size_t a = 0; a < placed.size(); ++a) {
    EXPECT_EQ(placed[a]["bytes"], 200);
    EXPECT_EQ(placed[a]["allocated"], 256);
    const uint64_t end = placed[a]["offset"].get<uint64_t>() + 256;
    for (const Json& range : placed[a]["live"])
      for (size_t i = range[0]; i <= range[1].get<size_t>(); ++i) {
        live[i] += 256;
        top[i] = std::max(top[i], end);
        for (size_t b = 0; b < a; ++b)
          for (const Json& other : placed[b]["live"])
            EXPECT_FALSE(placed[a]["offset"] == placed[b]["offset"] && other[0] <= i &&
                         i <= other[1].get<size_t>())
                << a << " and " << b << " in launch " << i;
      }
  }
  for (size_t i = 0; i < live.size(); ++i) {
    EXPECT_EQ(j["launches"][i]["live_bytes"], live[i]) << i;
    EXPECT_EQ(j["launches"][i]["slot_bytes"], top[i]) << i;
  }
  EXPECT_EQ(*std::max_element(live.begin(), live.end()), j["memory"]["live_sum"]);
  EXPECT_GE(j["memory"]["peak_unplanned"], j["memory"]["peak"]);
}

TEST(graph_report, without_a_plan_both_peaks_are_the_same) {
  const Ran r = run(pipeline_graph, 64, 1, false);
  const Json j = r.json();
  EXPECT_EQ(j["launches"].size(), 8u);
  EXPECT_EQ(j["memory"]["peak"], j["memory"]["peak_unplanned"]);
  EXPECT_EQ(j["memory"]["peak"], 256 * 8);
  for (const Json& b : j["memory"]["placement"]) EXPECT_TRUE(b["slot"].is_null());
  // A buffer outside the slots is live as long as the loop around it may repeat.
  EXPECT_EQ(j["memory"]["placement"][3]["live"], parse_json<Json>("[[3, 4]]"));  // d
}

TEST(graph_report, in_one_line) {
  EXPECT_EQ(
      summary_line(run(pipeline_graph, 64, 3).report),
      "10 launches for 12 calls; 1.5 KiB of memory traffic avoided; at most 1 KiB on the device, "
      "2 KiB without the plan");
}

TEST(graph_report, kernels_have_none) {
  EXPECT_FALSE(parse_json<Json>(to_json(RunReport{})).contains("graph"));
}

}  // namespace
}  // namespace vyre::report
