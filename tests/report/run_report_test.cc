#include "report/run_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vyre::report {
namespace {

using Json = nlohmann::json;

RunReport sample() {
  RunReport r;
  r.vyre = "0.1.0";
  r.program = "saxpy\xff";  // names may be no UTF-8
  r.backend = "interp";
  r.spans = {{"parse", "host", 0, 1500}, {"compile", "host", 1500, 2000}, {"compile", "host", 4000, 500}, {"saxpy", "device", 5000, 700}};
  r.device_ns = {900, 700, 800};
  r.buffers = {{"x", "in", "f32", 4, 16}};
  r.code_origin = "disk cache";
  return r;
}

TEST(run_report, adds_up_stages_and_sorts_repeats) {
  const Json j = Json::parse(to_json(sample()));
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["stages_ns"]["parse"], 1500);
  EXPECT_EQ(j["stages_ns"]["compile"], 2500);
  EXPECT_FALSE(j["stages_ns"].contains("saxpy"));
  EXPECT_EQ(j["device_ns"]["min_ns"], 700);
  EXPECT_EQ(j["device_ns"]["median_ns"], 800);
  EXPECT_EQ(j["buffers"][0]["bytes"], 16);
  EXPECT_EQ(j["code"]["cache_hit"], true);
}

TEST(run_report, trace_has_the_fields_of_the_format) {
  const Json j = Json::parse(to_trace(sample()));
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
  EXPECT_EQ(Json::parse(to_json({}))["device_ns"]["runs"], 0);
  EXPECT_TRUE(Json::parse(to_trace({}))["traceEvents"].is_array());
}

}  // namespace
}  // namespace vyre::report
