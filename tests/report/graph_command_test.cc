// `vyre run` on a graph says how it was planned: on standard error with -v, and in its reports.

#include <fmt/format.h>

#include <algorithm>

#include "support/json.h"
#include "tests/cli/cli_util.h"
#include "tests/report/graph_report_util.h"
#include "tests/report/schema_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;

class GraphReports : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("g.vyre", report::pipeline_graph);
  }

  ProcessResult run(std::vector<std::string> more) const {
    std::vector<std::string> words = {"run", "g.vyre", "--backend", "interp"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--in") == more.end())
      words.insert(words.end(), {"--in", "x=random:64"});
    if (std::find(more.begin(), more.end(), "--set") == more.end())
      words.insert(words.end(), {"--set", "rounds=3"});
    return vyre(words);
  }
  Json report(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"--report", "r.json"};
    words.insert(words.end(), more.begin(), more.end());
    expect_exit(run(words), 0);
    const Json j = parse_json<Json>(contents("r.json"));
    EXPECT_EQ(schema_errors(read_schema("run_report"), j), std::vector<std::string>{});
    return j;
  }
};

TEST_F(GraphReports, say_what_the_plan_saves) {
  const ProcessResult r = run({"-v"});
  expect_exit(r, 0);
  EXPECT_NE(r.err.find("plan: 10 launches for 12 calls; 1.5 KiB of memory traffic avoided; at most "
                       "1 KiB on the device, 2 KiB without the plan"),
            std::string::npos)
      << r.err;
  EXPECT_EQ(run({}).err.find("plan:"), std::string::npos);
}

TEST_F(GraphReports, have_the_plan_that_vyre_plan_shows) {
  const Json g = report()["graph"];
  const ProcessResult p = vyre({"plan", "g.vyre:pipeline", "--len", "x=64", "--set", "rounds=3",
                                "--json", "--backend", "interp"});
  expect_exit(p, 0);
  const Json plan = parse_json<Json>(p.out);
  ASSERT_EQ(g["launches"].size(), plan["launches"].size());
  for (size_t i = 0; i < g["launches"].size(); ++i) {
    EXPECT_EQ(g["launches"][i]["calls"], plan["launches"][i]["calls"]) << i;
    EXPECT_EQ(g["launches"][i]["joins"], plan["launches"][i]["joins"]) << i;
    EXPECT_EQ(g["launches"][i]["avoided_bytes"], plan["launches"][i]["avoided_bytes"]) << i;
  }
  EXPECT_EQ(g["refusals"], plan["refusals"]);
  for (const char* same : {"avoided_bytes", "avoided_launches"}) EXPECT_EQ(g[same], plan[same]);
  for (const char* same : {"slots", "before", "after", "live_sum"})
    EXPECT_EQ(g["memory"][same], plan["memory"][same]);
  for (const Json& b : g["memory"]["placement"]) {
    bool found = false;
    for (const Json& other : plan["memory"]["placement"])
      found |= other["name"] == b["name"] && other["slot"] == b["slot"] &&
               other["offset"] == b["offset"] && other["bytes"] == b["bytes"];
    EXPECT_TRUE(found) << b;
  }
}

TEST_F(GraphReports, count_what_ran) {
  for (const uint64_t rounds : {0, 1, 20}) {
    const Json j = report({"--set", fmt::format("rounds={}", rounds)});
    const Json& g = j["graph"];
    EXPECT_EQ(j["launches"], 4 + 2 * rounds);
    EXPECT_EQ(j["segments"], 4 + 2 * rounds);
    EXPECT_EQ(g["ran"], 4 + 2 * rounds);
    EXPECT_EQ(g["executed"]["launches"], 4 + 2 * rounds);
    EXPECT_EQ(g["executed"]["calls"], 6 + 2 * rounds);
    EXPECT_EQ(g["executed"]["avoided_launches"], 2);
    EXPECT_EQ(g["executed"]["avoided_bytes"], 2 * 3 * 256);
    uint64_t launches = 0;
    for (const Json& l : g["launches"]) launches += l["runs"].get<uint64_t>();
    EXPECT_EQ(launches, 4 + 2 * rounds);
    EXPECT_EQ(g["launches"][2]["runs"], rounds);
    // The numbers of the plan do not depend on how often it runs.
    EXPECT_EQ(g["calls"], 8);
    EXPECT_EQ(g["launches"].size(), 6u);
    EXPECT_EQ(g["avoided_launches"], 2);
  }
}

TEST_F(GraphReports, have_the_peak_with_and_without_of_odd_lengths) {
  const std::vector<std::string> words = {"--in", "x=random:50"};
  const Json planned = report(words), unplanned = report({"--in", "x=random:50", "--plan", "none"});
  EXPECT_EQ(planned["graph"]["memory"]["peak"], 400 + 2 * 256);
  EXPECT_EQ(planned["graph"]["memory"]["peak"], planned["bytes"]["device_peak"]);
  EXPECT_EQ(planned["graph"]["memory"]["peak_unplanned"], unplanned["bytes"]["device_peak"]);
  EXPECT_EQ(unplanned["bytes"]["device_peak"], 400 + 6 * 256);
}

TEST_F(GraphReports, have_the_peak_with_and_without) {
  const Json planned = report(), unplanned = report({"--plan", "none"});
  EXPECT_EQ(planned["graph"]["memory"]["peak"], planned["bytes"]["device_peak"]);
  // The peak that the report gives for a run without the plan is the peak of such a run.
  EXPECT_EQ(planned["graph"]["memory"]["peak_unplanned"], unplanned["bytes"]["device_peak"]);
  EXPECT_LT(planned["bytes"]["device_peak"], unplanned["bytes"]["device_peak"]);
  EXPECT_EQ(unplanned["graph"]["launches"].size(), 8u);
}

TEST_F(GraphReports, of_failed_runs_have_no_graph) {
  expect_exit(run({"--report", "r.json", "--memory-limit", "1"}), 1);
  const Json j = parse_json<Json>(contents("r.json"));
  EXPECT_EQ(j["outcome"], "failed");
  EXPECT_FALSE(j.contains("graph"));
}

}  // namespace
}  // namespace vyre
