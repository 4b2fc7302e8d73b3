// Seeded changes of a plan file and of a telemetry file, through fuzz/plan_reader.h and
// fuzz/telemetry_reader.h.

#include <gtest/gtest.h>

#include "fuzz/plan_reader.h"
#include "fuzz/telemetry_reader.h"
#include "lab/random.h"
#include "opt/pipeline.h"

namespace vyre {
namespace {

/// Replaces, inserts, removes and repeats pieces of the text, one to three times.
std::string changed(std::string s, lab::Random& r) {
  static const char* const pieces[] = {"{",     "}",         "[",    "]",    ",",
                                       ":",     "\"",        "null", "true", "-1",
                                       "1e9",   "0",         "\\",   "\\u0", "18446744073709551616",
                                       "\"a\"", "1.5",       "{}",   "[]",   "\n",
                                       "\xff",  "4294967296"};
  for (size_t edits = 1 + r.below(3); edits > 0; --edits) {
    const size_t at = r.below(s.size() + 1);
    const size_t digit = s.find_first_of("0123456789", at);
    switch (r.below(5)) {
      case 0:
        s.erase(at, 1 + r.below(8));
        break;
      case 1:
        s.insert(at, pieces[r.below(std::size(pieces))]);
        break;
      case 2:
        if (digit != s.npos) s[digit] = static_cast<char>('0' + r.below(10));
        break;
      case 3:
        if (digit != s.npos) s.replace(digit, 1, pieces[r.below(std::size(pieces))]);
        break;
      default:
        s.insert(at, s.substr(at, 1 + r.below(40)));
        break;
    }
  }
  return s;
}

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
    const std::string text = changed(file, r);
    ASSERT_EQ(check_plan_reader(text), "") << "seed " << seed << "\n" << text;
  }
}

TEST(JsonFuzz, telemetry_files) {
  const std::string file = telemetry_file();
  ASSERT_EQ(check_telemetry_reader(file), "");
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    lab::Random r(seed);
    const std::string text = changed(file, r);
    ASSERT_EQ(check_telemetry_reader(text), "") << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace vyre
