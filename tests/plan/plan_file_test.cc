// Plans as files: written plans are read back, and every plan that is read is verified.

#include <fmt/format.h>

#include "generate/generate.h"
#include "support/json.h"
#include "tests/plan/plan_file_util.h"
#include "tests/report/schema_util.h"

namespace vyre::plan {
namespace {

using Json = nlohmann::ordered_json;

Bytes unplanned(const PlannedText& t) {
  const auto ran = t.run(nullptr);
  if (ran) return *ran;
  ADD_FAILURE() << render(ran.errors(), {});
  return {};
}

Code code_of(const PlannedText& t, const Json& file) {
  const Result<Bytes> ran = t.run_file(json_text(file));
  EXPECT_FALSE(ran) << json_text(file, 1);
  return ran ? Code{} : ran.errors()[0].code;
}

std::string message_of(const std::string& text) {
  const Result<GraphPlan> plan = read_plan(text, "p.json");
  EXPECT_FALSE(plan) << text;
  return plan ? "" : to_string(plan.errors()[0].code) + " " + plan.errors()[0].message;
}

// ---- There and back.

TEST(PlanFile, the_graph_of_these_tests_has_everything_a_plan_can_have) {
  const PlannedText t = mixed();
  const Json j = parse_json<Json>(t.file());
  EXPECT_EQ(j["launches"].size(), 4u);
  EXPECT_EQ(j["launches"][0]["joins"], Json({"same_invocation", "recompute"}));
  EXPECT_EQ(j["launches"][0]["elided"].size(), 2u);
  EXPECT_EQ(j["refusals"].size(), 3u);
  EXPECT_EQ(j["memory"]["clears"].size(), 1u);
  EXPECT_EQ(j["memory"]["slots"].size(), 1u);
  EXPECT_LT(j["memory"]["after"], j["memory"]["before"]);  // two buffers have one place
}

TEST(PlanFile, write_read_apply_write_is_the_identity) {
  for (const uint64_t n : {0, 1, 64, 300, 1000})
    for (const bool fuse : {true, false})
      for (const bool reuse : {true, false}) {
        const PlannedText t = mixed(n);
        PlanOptions options;
        options.fuse = fuse;
        options.reuse = reuse;
        const std::string text = t.file(options);
        const auto read = read_plan(text, "p.json");
        ASSERT_TRUE(read) << render(read.errors(), {});
        const auto applied = apply_plan(t.module, t.graph(), t.shape(), *read, options);
        ASSERT_TRUE(applied) << render(applied.errors(), {}) << text;
        // Reasons are for people: they are not read back.
        Json before = parse_json<Json>(text),
             after = parse_json<Json>(write_plan(*applied, t.module, t.graph()));
        before["refusals"] = after["refusals"] = Json::array();
        EXPECT_EQ(before, after);
        EXPECT_EQ(print(applied->fused.module), print(t.planned(options).fused.module));
        const auto ran = t.run(&*read);
        ASSERT_TRUE(ran) << render(ran.errors(), {});
        EXPECT_EQ(*ran, unplanned(t)) << n;
      }
}

TEST(PlanFile, plans_of_generated_graphs_come_back_and_fit_the_schema) {
  const nlohmann::json schema = read_schema("plan");
  uint32_t graphs = 0, joined = 0;
  for (uint64_t seed = 1; graphs < 120; ++seed) {
    const lab::Generated g = lab::generate(seed);
    if (!g.is_graph()) continue;
    ++graphs;
    const Graph& graph = g.module.graphs[0];
    const auto shape = resolve_graph(graph, g.inputs.data, g.inputs.lengths, 0);
    ASSERT_TRUE(shape);
    const auto planned = plan_graph(g.module, graph, *shape);
    ASSERT_TRUE(planned) << "seed " << seed << "\n" << render(planned.errors(), {});
    const std::string text = write_plan(*planned, g.module, graph);
    EXPECT_EQ(schema_errors(schema, parse_json<nlohmann::json>(text)), std::vector<std::string>{});
    const auto read = read_plan(text, "p.json");
    ASSERT_TRUE(read) << "seed " << seed << "\n" << render(read.errors(), {});
    const auto applied = apply_plan(g.module, graph, *shape, *read);
    ASSERT_TRUE(applied) << "seed " << seed << "\n" << render(applied.errors(), {}) << text;
    EXPECT_EQ(print(applied->fused.module), print(planned->fused.module)) << "seed " << seed;
    joined += planned->plan.fusion.avoided_launches > 0;
  }
  EXPECT_GT(joined, 20u);
}

TEST(PlanFile, a_changed_member_does_not_fit_the_schema) {
  const nlohmann::json schema = read_schema("plan"),
                       good = parse_json<nlohmann::json>(mixed().file());
  EXPECT_EQ(schema_errors(schema, good), std::vector<std::string>{});
  for (const auto& [member, unused] : good.items()) {
    nlohmann::json bad = good;
    bad.erase(member);
    EXPECT_EQ(schema_errors(schema, bad).size(), 1u) << member;
    bad = good;
    bad[member] = 1.5;
    EXPECT_GE(schema_errors(schema, bad).size(), 1u) << member;
  }
  nlohmann::json bad = good;
  bad["launches"][0]["joins"][0] = "somehow";
  bad["memory"]["placement"][0]["slot"] = "own";
  bad["fingerprint"] = "not hex";
  EXPECT_EQ(schema_errors(schema, bad).size(), 3u);
}

// ---- Damaged files.

TEST(PlanFile, what_is_no_plan_is_V0861) {
  const char* texts[] = {"",
                         " ",
                         "plan",
                         "{",
                         "{}",
                         "[]",
                         "7",
                         "null",
                         "\"vyre plan\"",
                         "{\"a\":1}",
                         R"({"format": "vyre report", "version": 1})",
                         R"({"format": 1, "version": 1})",
                         "\xff\xfe",
                         "{\"format\": \"vyre plan\"",
                         "vyre 1\nkernel a() {}"};
  for (const char* text : texts) EXPECT_EQ(message_of(text).substr(0, 5), "V0861") << text;
  EXPECT_EQ(message_of(R"({"format": "vyre plan", "version": 1})"),
            "V0861 p.json: `fingerprint` is missing or of the wrong kind");
  EXPECT_EQ(message_of(std::string(100'000, '[')).substr(0, 5), "V0861");
  std::string deep = mixed().file();
  deep.insert(deep.rfind('}'),
              ", \"more\": " + std::string(50'000, '[') + std::string(50'000, ']'));
  const auto ignored = read_plan(deep, "p.json");  // that member is ignored
  if (!ignored) {
    EXPECT_EQ(ignored.errors()[0].code, Code::PlanFileDamaged);
  }
}

TEST(PlanFile, another_version_is_V0862) {
  Json j = parse_json<Json>(mixed().file());
  for (const Json& version : {Json(0), Json(2), Json(-1), Json("1"), Json(1.5), Json(nullptr),
                              Json(~uint64_t{0}), Json::array({1})}) {
    j["version"] = version;
    EXPECT_EQ(message_of(json_text(j)).substr(0, 5), "V0862") << version;
  }
  j.erase("version");
  EXPECT_EQ(message_of(json_text(j)),
            "V0862 p.json: the plan is of version none; this vyre reads version 1");
}

TEST(PlanFile, the_message_names_the_part_that_is_wrong) {
  const Json good = parse_json<Json>(mixed().file());
  const auto changed = [&](const char* path, const Json& to) {
    Json j = good;
    j[Json::json_pointer(path)] = to;
    return message_of(json_text(j));
  };
  EXPECT_EQ(changed("/fingerprint", "abc"),
            "V0861 p.json: `fingerprint`: it is no fingerprint of 32 digits");
  EXPECT_EQ(changed("/fingerprint", std::string(32, '-')),
            "V0861 p.json: `fingerprint`: it is no fingerprint of 32 digits");
  EXPECT_EQ(changed("/buffers/1/count", -300), "V0861 p.json: `buffers`: `count` is no number");
  EXPECT_EQ(changed("/launches/1/calls/0/node", uint64_t{1} << 32),
            "V0861 p.json: `launches[1]`: `node` is too large");
  EXPECT_EQ(changed("/launches/0/joins/0", "glue"),
            "V0861 p.json: `launches[0]`: `glue` is no way to join");
  EXPECT_EQ(changed("/launches/2/elided", 5), "V0861 p.json: `launches[2]`: `elided` is no list");
  EXPECT_EQ(changed("/launches", nullptr), "V0861 p.json: `launches`: `launches` is no list");
  EXPECT_EQ(changed("/launches/1/calls/0", "turn").substr(0, 32),
            "V0861 p.json: `launches[1]` is m");
  EXPECT_EQ(changed("/memory/slots/0", 2.5), "V0861 p.json: `memory`: a slot's size is no number");
  EXPECT_EQ(changed("/memory/clears", nullptr), "V0861 p.json: `memory`: `clears` is no list");
}

/// Every value in a file, by its path.
void paths(const Json& at, const std::string& path, std::vector<std::string>& all) {
  if (!path.empty()) all.push_back(path);
  if (at.is_object())
    for (const auto& [key, value] : at.items()) paths(value, path + "/" + key, all);
  if (at.is_array())
    for (size_t i = 0; i < at.size(); ++i) paths(at[i], fmt::format("{}/{}", path, i), all);
}

TEST(PlanFile, every_part_replaced_by_anything_is_refused_or_harmless) {
  const PlannedText t = mixed();
  const Bytes expected = unplanned(t);
  const Json good = parse_json<Json>(t.file());
  std::vector<std::string> all;
  paths(good, "", all);
  EXPECT_GT(all.size(), 150u);
  const Json others[] = {nullptr,
                         true,
                         -1,
                         0,
                         1,
                         3,
                         1.5,
                         1e300,
                         ~uint64_t{0},
                         uint64_t{1} << 40,
                         "",
                         "1",
                         Json::array(),
                         Json::object(),
                         Json::array({1}),
                         Json::array({Json::object()})};
  uint32_t refused = 0, harmless = 0;
  for (const std::string& path : all) {
    for (const Json& other : others) {
      Json j = good;
      j[Json::json_pointer(path)] = other;
      (t.same_or_refused(json_text(j), expected) ? refused : harmless) += 1;
      if (HasFailure()) FAIL() << path << " = " << other;
    }
    const Json::json_pointer at(path);
    Json j = good;
    Json& parent = j[at.parent_pointer()];
    if (parent.is_object())
      parent.erase(at.back());
    else
      parent.erase(size_t(std::stoul(at.back())));
    (t.same_or_refused(json_text(j), expected) ? refused : harmless) += 1;
    if (HasFailure()) FAIL() << path << " erased";
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(harmless, 300u);  // names, reasons and sizes are for people
}

TEST(PlanFile, every_part_given_twice_is_refused_or_harmless) {
  const PlannedText t = mixed();
  const Bytes expected = unplanned(t);
  const Json good = parse_json<Json>(t.file());
  std::vector<std::string> all;
  paths(good, "", all);
  for (const std::string& path : all) {
    const Json::json_pointer at(path);
    Json j = good;
    Json& parent = j[at.parent_pointer()];
    if (!parent.is_array()) continue;
    const Json again = j[at];
    parent.push_back(again);
    t.same_or_refused(json_text(j), expected);
    if (HasFailure()) FAIL() << path;
  }
}

TEST(PlanFile, cut_anywhere_is_V0861) {
  const PlannedText t = mixed();
  const std::string text = t.file();
  const size_t whole = text.find_last_not_of(" \n") + 1;
  for (size_t n = 0; n < whole; n += 50)
    EXPECT_EQ(message_of(text.substr(0, n)).substr(0, 5), "V0861") << n;
  EXPECT_EQ(message_of(text.substr(0, whole - 1)).substr(0, 5), "V0861");
  EXPECT_TRUE(read_plan(text.substr(0, whole), "p.json"));
}

TEST(PlanFile, flipped_bits_are_refused_or_harmless) {
  const PlannedText t = mixed();
  const Bytes expected = unplanned(t);
  const std::string text = t.file();
  uint32_t refused = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string bad = text;
    bad[at] = char(bad[at] ^ (1 << (at * 5 % 8)));
    refused += t.same_or_refused(bad, expected).has_value();
    if (HasFailure()) FAIL() << "byte " << at;
  }
  EXPECT_GT(refused, text.size() / 4);
}

// ---- Plans of something else.

TEST(PlanFile, a_changed_graph_is_V0863_and_a_renamed_one_is_not) {
  const PlannedText t = mixed();
  const std::string text = t.file();
  const auto with = [&](std::initializer_list<std::pair<std::string, std::string>> changes) {
    std::string source = mixed_graph;
    for (const auto& [from, to] : changes)
      for (size_t at = source.find(from); at != source.npos; at = source.find(from, at + to.size()))
        source.replace(at, from.size(), to);
    PlannedText other(source);
    other.inputs = t.inputs;
    return other;
  };
  for (const PlannedText& other :
       {with({{"+ 7", "+ 8"}}),
        with({{"graph g(by: u32, ", "graph g(by: u32, "}, {"call turn(c, d)", "call shift(c, d)"}}),
        with({{"call shift(a, b)\n", "repeat 1 { call shift(a, b) }\n"}}),
        with({{"workgroup(64)", "workgroup(128)"}, {"u32[64]", "u32[128]"}}),
        with({{"call turn(f, y)\n", "call turn(f, y)\n  call turn(e, f)\n"}})}) {
    const auto ran = other.run_file(text);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.errors()[0].code, Code::PlanOfOtherGraph);
    EXPECT_NE(ran.errors()[0].message.find("graph `g`"), std::string::npos);
  }
  const PlannedText renamed = with({{"scale", "multiply"},
                                    {"graph g(", "\n\n// moved\ngraph other("},
                                    {"buffer a:", "buffer first:"},
                                    {"x, a)", "x, first)"},
                                    {"shift(a", "shift(first"}});
  const auto ran = renamed.run_file(text);
  ASSERT_TRUE(ran) << render(ran.errors(), {});
  EXPECT_EQ(*ran, unplanned(t));
}

TEST(PlanFile, other_lengths_and_scalars_are_V0864) {
  const std::string text = mixed(300).file();
  const auto longer = mixed(301).run_file(text);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.errors()[0].code, Code::PlanOfOtherLengths);
  ASSERT_GE(longer.errors()[0].notes.size(), 2u);
  EXPECT_EQ(longer.errors()[0].notes[0].message.substr(0, 16), "now len(x) = 301");
  EXPECT_EQ(longer.errors()[0].notes[1].message.substr(0, 25), "the plan has len(x) = 300");
  PlannedText other = mixed(300);
  other.set("by", std::vector<uint32_t>{4});
  const auto scaled = other.run_file(text);
  ASSERT_FALSE(scaled);
  EXPECT_EQ(scaled.errors()[0].code, Code::PlanOfOtherLengths);
}

// ---- Plans edited by hand that would change results.

TEST(PlanFile, illegal_joins_are_refused) {
  const PlannedText t = mixed();
  const Json good = parse_json<Json>(t.file());
  Json j = good;  // all in one
  for (size_t i = 1; i < 4; ++i) {
    for (const Json& c : good["launches"][i]["calls"]) j["launches"][0]["calls"].push_back(c);
    for (size_t n = good["launches"][i]["calls"].size(); n-- > 0;)
      j["launches"][0]["joins"].push_back("same_invocation");
  }
  j["launches"] = Json::array({j["launches"][0]});
  EXPECT_EQ(code_of(t, j), Code::FusionDependence);  // V0874
  j = good;
  std::swap(j["launches"][0], j["launches"][1]);
  EXPECT_EQ(code_of(t, j), Code::FusionPlanBroken);  // V0871
  j = good;
  j["launches"].erase(3);
  EXPECT_EQ(code_of(t, j), Code::FusionPlanBroken);
  j = good;
  j["launches"][0]["joins"][1] = "same_invocation";
  EXPECT_EQ(code_of(t, j), Code::FusionDependence);
  j = good;
  j["launches"][0]["joins"][1] = "handoff";
  EXPECT_EQ(code_of(t, j), Code::FusionJoinKind);  // V0877
  j = good;
  j["launches"][1]["elided"].push_back({{"buffer", 7}, {"name", "e"}});
  EXPECT_EQ(code_of(t, j), Code::FusionBufferNeeded);  // V0875
}

TEST(PlanFile, illegal_places_are_refused) {
  const PlannedText t = mixed();
  const Json good = parse_json<Json>(t.file());
  const auto place = [&](const Json& j, const std::string& name) {
    for (size_t i = 0; i < j["memory"]["placement"].size(); ++i)
      if (j["memory"]["placement"][i]["name"] == name) return i;
    ADD_FAILURE() << name;
    return size_t{0};
  };
  Json j = good;
  j["memory"]["placement"].erase(0);
  EXPECT_EQ(code_of(t, j), Code::ReusePlanMalformed);  // V0881
  j = good;
  j["memory"]["placement"][place(j, "e")]["offset"] = 4;
  EXPECT_EQ(code_of(t, j), Code::ReuseMisaligned);  // V0882
  j = good;
  j["memory"]["placement"][place(j, "e")]["offset"] = 1 << 20;
  EXPECT_EQ(code_of(t, j), Code::ReuseOutOfSlot);  // V0883
  j = good;
  j["memory"]["placement"][place(j, "y")]["slot"] = 0;
  EXPECT_EQ(code_of(t, j), Code::ReuseOfEscapingBuffer);  // V0884
  j = good;
  j["memory"]["placement"][place(j, "e")]["offset"] =
      j["memory"]["placement"][place(j, "c")]["offset"];
  EXPECT_EQ(code_of(t, j), Code::ReuseAtTheSameTime);  // V0886: launch 2 has both
  j = good;
  j["memory"]["clears"] = Json::array();
  EXPECT_EQ(code_of(t, j), Code::ReuseMissingClear);  // V0887
  j = good;
  j["memory"]["clears"][0]["launch"] = 2;
  EXPECT_EQ(code_of(t, j), Code::ReuseMissingClear);
  j = good;
  j["memory"]["clears"][0]["launch"] = 99;
  EXPECT_EQ(code_of(t, j), Code::ReusePlanMalformed);
  for (const char* name : {"x", "y"}) {  // the host's data are not a plan's to clear
    j = good;
    j["memory"]["clears"].push_back({{"launch", 3}, {"buffer", place(j, name)}});
    EXPECT_EQ(code_of(t, j), Code::ReusePlanMalformed) << name;
  }
  j = good;
  j["memory"]["after"] = 0;
  EXPECT_EQ(code_of(t, j), Code::ReuseWrongSums);  // V0888
}

TEST(PlanFile, a_slot_larger_than_any_memory_is_an_error_of_the_run) {
  const PlannedText t = mixed();
  Json j = parse_json<Json>(t.file());
  for (const uint64_t huge : {uint64_t{1} << 50, ~uint64_t{0} / 256 * 256}) {
    j["memory"]["slots"][0] = huge;
    j["memory"]["after"] = huge;
    const auto ran = t.run_file(json_text(j));
    ASSERT_FALSE(ran);
    EXPECT_FALSE(ran.errors()[0].message.empty());
  }
}

}  // namespace
}  // namespace vyre::plan
