#include "report/run_report.h"

#include <gtest/gtest.h>

#include "support/json.h"

namespace vyre::report {
namespace {

using Json = nlohmann::json;

RunReport sample() {
  RunReport r;
  r.vyre = "0.1.0";
  r.program = "saxpy\xff";  // names may be no UTF-8
  r.backend = "interp";
  r.spans = {{"parse", "host", 0, 1500},
             {"compile", "host", 1500, 2000},
             {"compile", "host", 4000, 500},
             {"saxpy", "device", 5000, 700}};
  r.spans[3].kernel = "saxpy";
  r.spans[3].grid = {4, 1, 1};
  r.spans[3].num_workgroups = {1, 1, 1};
  r.spans[3].bytes = 48;
  r.stage(Stage::Parse) = 1500;
  r.device_ns = {900, 700, 800};
  r.buffers = {{"x", "in", "f32", 4, 16, {}}};
  r.code_origin = "disk cache";
  r.cache.disk_hits = 1;
  return r;
}

TEST(run_report, has_every_stage_and_sorts_repeats) {
  const Json j = parse_json<Json>(to_json(sample()));
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["stages_ns"].size(), stage_names.size());
  EXPECT_EQ(j["stages_ns"]["parse"], 1500);
  EXPECT_EQ(j["stages_ns"]["emit"], 0);
  EXPECT_EQ(j["device_time"]["min_ns"], 700);
  EXPECT_EQ(j["device_time"]["median_ns"], 800);
  EXPECT_EQ(j["device_time"]["max_ns"], 900);
  EXPECT_EQ(j["device_time"]["each_ns"], Json({900, 700, 800}));
  EXPECT_EQ(j["buffers"][0]["bytes"], 16);
  EXPECT_EQ(j["code"]["cache"]["disk_hits"], 1);
  EXPECT_EQ(j["outcome"], "done");
}

TEST(run_report, computes_the_bandwidth_of_the_median_repeat) {
  RunReport r = sample();
  r.traffic_bytes = 4000;
  r.device_bandwidth = 10'000'000'000;
  const Json b = parse_json<Json>(to_json(r))["bandwidth"];
  EXPECT_EQ(b["traffic_bytes"], 4000);
  EXPECT_EQ(b["bytes_per_second"], 5'000'000'000);  // in 800 ns
  EXPECT_EQ(b["device_bytes_per_second"], 10'000'000'000);
  r.device_ns = {};
  EXPECT_EQ(parse_json<Json>(to_json(r))["bandwidth"]["bytes_per_second"], 0);
}

TEST(run_report, says_where_and_when_the_run_was) {
  RunReport r = sample();
  r.commit = "abc1234";
  r.host = "machine";
  r.system = "Linux 6.1.0 x86_64";
  r.date = "2026-01-31T12:00:00Z";
  const Json j = parse_json<Json>(to_json(r)), other = parse_json<Json>(to_trace(r))["otherData"];
  EXPECT_EQ(j["commit"], "abc1234");
  EXPECT_EQ(j["host"], Json({{"name", "machine"}, {"system", "Linux 6.1.0 x86_64"}}));
  EXPECT_EQ(j["date"], "2026-01-31T12:00:00Z");
  EXPECT_EQ(other["commit"], "abc1234");
  EXPECT_EQ(other["host"], "machine");
  EXPECT_EQ(other["date"], "2026-01-31T12:00:00Z");
}

TEST(run_report, trace_events_have_arguments) {
  const Json events = parse_json<Json>(to_trace(sample()))["traceEvents"];
  EXPECT_EQ(events[0]["args"], Json::object());
  EXPECT_EQ(
      events[3]["args"],
      Json({{"kernel", "saxpy"}, {"grid", {4, 1, 1}}, {"workgroups", {1, 1, 1}}, {"bytes", 48}}));
}

TEST(run_report, lists_only_so_many_repeats_but_counts_all) {
  RunReport r;
  for (uint64_t i = 0; i < 5000; ++i) r.device_ns.push_back(5000 - i);
  const Json j = parse_json<Json>(to_json(r));
  EXPECT_EQ(j["device_time"]["repeats"], 5000);
  EXPECT_EQ(j["device_time"]["each_ns"].size(), listed_repeats);
  EXPECT_EQ(j["device_time"]["min_ns"], 1);
}

TEST(run_report, of_a_failed_run_has_its_errors) {
  RunReport r;
  r.exit_code = 1;
  r.diagnostics = {diagnose(Code::Trapped, {}, "it trapped\xff")};
  const Json j = parse_json<Json>(to_json(r));
  EXPECT_EQ(j["outcome"], "failed");
  EXPECT_EQ(j["exit_code"], 1);
  EXPECT_EQ(j["diagnostics"][0]["code"], "V0501");
}

TEST(run_report, trace_has_the_fields_of_the_format) {
  const Json j = parse_json<Json>(to_trace(sample()));
  size_t complete = 0, names = 0;
  for (const Json& e : j["traceEvents"]) {
    ASSERT_TRUE(e["name"].is_string());
    ASSERT_TRUE(e["pid"].is_number_integer());
    if (e["ph"] == "X") {
      ++complete;
      ASSERT_TRUE(e["ts"].is_number());
      ASSERT_TRUE(e["dur"].is_number());
      ASSERT_GE(e["dur"].get<double>(), 0);
      ASSERT_TRUE(e["tid"].is_number_integer());
    }
    names += e["ph"] == "M" && e["name"] == "thread_name";
  }
  EXPECT_EQ(complete, 4u);
  EXPECT_EQ(names, 2u);
}

TEST(run_report, of_nothing_is_still_json) {
  EXPECT_EQ(parse_json<Json>(to_json({}))["device_time"]["repeats"], 0);
  EXPECT_TRUE(parse_json<Json>(to_trace({}))["traceEvents"].is_array());
}

}  // namespace
}  // namespace vyre::report
