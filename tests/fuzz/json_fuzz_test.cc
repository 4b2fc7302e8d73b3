// Seeded changes of a plan file and of a telemetry file, through fuzz/plan_reader.h and
// fuzz/telemetry_reader.h.

#include <gtest/gtest.h>

#include "fuzz/plan_reader.h"
#include "fuzz/telemetry_reader.h"
#include "opt/pipeline.h"
#include "tests/text/text_edits.h"

namespace vyre {
namespace {

constexpr std::string_view pieces[] = {"{",     "}",         "[",    "]",    ",",
                                       ":",     "\"",        "null", "true", "-1",
                                       "1e9",   "0",         "\\",   "\\u0", "18446744073709551616",
                                       "\"a\"", "1e93",      "{}",   "[]",   "\n",
                                       "\xff",  "4294967296"};

std::string plan_file() {
  const Module module = *parse(std::string(planned_text)).module;
  const Graph& graph = module.graphs[0];
  std::vector<std::optional<uint64_t>> counts(graph.buffers.size()), scalars(graph.buffers.size());
  counts[0] = 100;
  const auto planned = plan::plan_graph(module, graph, *resolve_graph(graph, counts, scalars));
  return plan::write_plan(*planned, module, graph);
}

std::string telemetry_file() {
  opt::ProfileData data;
  data.hints.record("kernel", 120'000, 4096, "cpu: a device");
  Module module = *parse(std::string(planned_text)).module;
  data.reports["0123456789abcdef0123456789abcdef"] = *opt::optimize(module.kernels[0]);
  return opt::write_profile(data);
}

TEST(JsonFuzz, plan_files) {
  const std::string file = plan_file();
  ASSERT_EQ(check_plan_reader(file), "");
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    lab::Random r(seed);
    const std::string text = edited(file, pieces, r);
    ASSERT_EQ(check_plan_reader(text), "") << "seed " << seed << "\n" << text;
  }
}

TEST(JsonFuzz, telemetry_files) {
  const std::string file = telemetry_file();
  ASSERT_EQ(check_telemetry_reader(file), "");
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    lab::Random r(seed);
    const std::string text = edited(file, pieces, r);
    ASSERT_EQ(check_telemetry_reader(text), "") << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace vyre
