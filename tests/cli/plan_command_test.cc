// `vyre plan` and `vyre run --plan`: printed plans, plan files, and rejected plan files.

#include "support/json.h"
#include "tests/cli/cli_util.h"
#include "tests/report/schema_util.h"

namespace vyre {
namespace {

using Json = nlohmann::ordered_json;

const std::string two_stages =
    "kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  y[global_id.x] = x[global_id.x] * by\n"
    "}\n"
    "kernel shift(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  y[global_id.x] = x[global_id.x] + 7\n"
    "}\n"
    "graph g(by: u32, x: in u32[], y: out u32[len(x)]) {\n"
    "  buffer t: u32[len(x)]\n"
    "  call scale(by, x, t)\n"
    "  call shift(t, y)\n"
    "}\n";

class PlanCommandLine : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("g.vyre", two_stages);
  }
  /// Makes p.json for three elements, and gives what is in it.
  Json make_plan(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"plan", "g.vyre", "--backend", "interp", "--len",
                                      "x=3",  "--set",  "by=2",      "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto r = vyre(words);
    expect_exit(r, 0);
    file("p.json", r.out);
    return try_parse_json<Json>(r.out);
  }
  ProcessResult run(const std::string& plan, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"run",     "g.vyre", "--backend", "interp", "--in",
                                      "x=1,2,3", "--set",  "by=2",      "--plan", plan};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words);
  }
  void expect_refused(const Json& plan, const std::string& code) const {
    file("bad.json", json_text(plan));
    const auto r = run("bad.json");
    expect_exit(r, 2);
    expect_code(r, code);
    EXPECT_EQ(r.out.find("9 11 13"), std::string::npos) << r.out;
  }
};

// ---- What is shown.

TEST_F(PlanCommandLine, shows_joins_and_what_never_reaches_memory) {
  const auto r = vyre({"plan", "g.vyre", "--len", "x=1024", "--set", "by=2"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out,
            "graph `g`: 2 calls, 1 launch; 1 launch and 8 KiB of memory traffic avoided\n"
            "  launch: stage 1 `scale`\n"
            "    joined with stage 2 `shift` in the same invocation: what is handed over stays "
            "there\n"
            "    `t` (4 KiB) never reaches device memory\n"
            "memory of intermediates: 0 bytes, 4 KiB without the plan\n");
  const auto none =
      vyre({"plan", "g.vyre:g", "--len", "x=1024", "--set", "by=2", "--no-fusion", "--no-reuse"});
  expect_exit(none, 0);
  EXPECT_EQ(none.out.find("never reaches"), std::string::npos);
  EXPECT_NE(none.out.find("graph `g`: 2 calls, 2 launches\n"), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("`t`: 4 KiB of its own"), std::string::npos) << none.out;
}

TEST_F(PlanCommandLine, says_what_it_assumes) {
  const auto r = vyre({"plan", "g.vyre"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("assumed: by = 1, len(x) = 1048576; give lengths with `--len NAME=N`, "
                       "scalars with `--set`\n"),
            std::string::npos)
      << r.out;
  const auto some = vyre({"plan", "g.vyre", "--set", "by=3"});
  EXPECT_NE(some.out.find("assumed: len(x) = 1048576;"), std::string::npos) << some.out;
  const auto none = vyre({"plan", "g.vyre", "--set", "by=3", "--in", "x=1,2"});
  EXPECT_EQ(none.out.find("assumed"), std::string::npos) << none.out;
}

TEST_F(PlanCommandLine, asks_for_scalars_that_lengths_depend_on) {
  file("sized.vyre",
       "kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(1) grid(len(x)) { y[0] = x[0] }\n"
       "graph g(n: u32, m: u32, x: in u32[n], y: out u32[len(x)]) {\n"
       "  call twice(x, y)\n  repeat m { call twice(x, y) }\n}\n");
  const std::string question = "pass `--set n=V`: the length of `x` depends on it\n";
  const auto r = vyre({"plan", "sized.vyre"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("assumed: n = 1, m = 1;"), r.out.npos) << r.out;
  EXPECT_NE(r.out.find(question), r.out.npos) << r.out;
  EXPECT_EQ(r.out.find("--set m=V"), r.out.npos) << r.out;
  for (const std::vector<std::string>& known :
       {std::vector<std::string>{"--set", "n=64"}, {"--len", "x=64"}}) {
    std::vector<std::string> words = {"plan", "sized.vyre"};
    words.insert(words.end(), known.begin(), known.end());
    EXPECT_EQ(vyre(words).out.find("pass `--set"), std::string::npos);
  }
}

TEST_F(PlanCommandLine, a_memory_limit_below_the_need_is_an_error_with_numbers) {
  const auto tight = vyre({"plan", "g.vyre", "--len", "x=1024", "--memory-limit", "8191"});
  expect_exit(tight, 1);
  expect_code(tight, "V0503");
  EXPECT_NE(tight.err.find("need 8192 bytes; the limit is 8191"), tight.err.npos) << tight.err;
  const auto fits = vyre({"plan", "g.vyre", "--len", "x=1024", "--memory-limit", "12288"});
  expect_exit(fits, 0);
  EXPECT_NE(fits.out.find("within 12288 bytes: 2 groups"), fits.out.npos) << fits.out;
  EXPECT_NE(fits.out.find("memory of a run: 8192 bytes of 12288: 8192 of parameters, 0 of "
                          "intermediates, 0 of scratch buffers and values kept at grid barriers\n"),
            fits.out.npos)
      << fits.out;
}

TEST_F(PlanCommandLine, accepts_the_memory_limits_that_run_accepts) {
  file("m.vyre", R"(
kernel fan(x: in u32[], a: out u32[len(x)], n: out u32[1]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  a[len(x) - 1 - i] = x[i]
  if i == 0 { n[0] = len(x) }
}
kernel turn(x: in u32[], n: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[len(x) - 1 - global_id.x] = x[global_id.x] * n[0]
}
kernel more(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }
kernel spill(x: inout u32[], s: scratch u32[7]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  let v = x[i] + 1
  if i < 7 { s[i] = v }
  barrier grid
  x[i] = v + x[0] + s[i % 7]
}
graph updated(x: inout u32[]) { call more(x) }
graph shared(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer n: u32[1]
  buffer b: u32[len(x)]
  call fan(x, a, n)
  call turn(a, n, b)
  call turn(b, n, y)
}
graph split(x: inout u32[]) { call spill(x) }
)");
  for (const std::string name : {"updated", "shared", "split"})
    for (const std::string backend : {"interp", "cpu"}) {
      const std::string graph = "m.vyre:" + name;
      const std::vector<std::string> of_plan = {"plan",      graph,   "--len",         "x=257",
                                                "--backend", backend, "--memory-limit"};
      const std::vector<std::string> of_run = {"run",          graph,       "--in",
                                               "x=random:257", "--backend", backend,
                                               "--report",     "r.json",    "--memory-limit"};
      const auto with = [&](std::vector<std::string> words, uint64_t limit) {
        words.push_back(std::to_string(limit));
        return vyre(words);
      };
      expect_exit(with(of_run, 1 << 20), 0);
      const uint64_t need =
          parse_json<Json>(contents("r.json"))["bytes"]["device_peak"].get<uint64_t>();
      for (const auto& words : {of_plan, of_run}) {
        expect_exit(with(words, need), 0);
        const auto below = with(words, need - 1);
        expect_exit(below, 1);
        expect_code(below, "V0503");
      }
    }
}

TEST_F(PlanCommandLine, rounds_the_memory_with_and_without_the_plan_alike) {
  file("m.vyre", R"(
kernel fan(x: in u32[], a: out u32[len(x)], n: out u32[1]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  a[len(x) - 1 - i] = x[i]
  if i == 0 { n[0] = len(x) }
}
kernel turn(x: in u32[], n: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[len(x) - 1 - global_id.x] = x[global_id.x] * n[0]
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer n: u32[1]
  buffer b: u32[len(x)]
  call fan(x, a, n)
  call turn(a, n, b)
  call turn(b, n, y)
}
)");
  const auto r = vyre({"plan", "m.vyre:g", "--len", "x=256", "--no-fusion"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("memory of intermediates: 2.25 KiB, 2.25 KiB without the plan"),
            std::string::npos)
      << r.out;
}

TEST_F(PlanCommandLine, shows_the_joined_kernel_on_demand) {
  const auto r = vyre({"plan", "g.vyre", "--print-ir"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("kernel scale_shift("), std::string::npos) << r.out;
  const auto ir = r.out.substr(r.out.find("\n\n") + 2);
  file("joined.vyre", ir);
  expect_exit(vyre({"check", "joined.vyre"}), 0);
}

TEST_F(PlanCommandLine, decoded_bytes_of_the_examples_never_reach_device_memory) {
  const std::string examples = VYRE_SOURCE_DIR "/examples/";
  for (const auto& [name, buffer] : {std::pair{"hex_newlines", "`bytes` (1 MiB)"},
                                     std::pair{"base64_scan", "`bytes` (768 KiB)"}}) {
    const auto r = vyre({"plan", examples + name + ".vyre", "--backend", "interp"});
    expect_exit(r, 0);
    EXPECT_NE(r.out.find(std::string(buffer) + " never reaches device memory"), std::string::npos)
        << r.out;
    const auto data = vyre({"plan", examples + name + ".vyre", "--backend", "interp", "--json"});
    const Json j = parse_json<Json>(data.out);
    bool elided = false, placed = false;
    for (const Json& launch : j["launches"])
      for (const Json& b : launch["elided"]) elided |= b["name"] == "bytes";
    for (const Json& p : j["memory"]["placement"]) placed |= p["name"] == "bytes";
    EXPECT_TRUE(elided) << data.out;
    EXPECT_FALSE(placed) << data.out;
  }
}

// ---- Plans as files.

TEST_F(PlanCommandLine, json_fits_its_schema) {
  const nlohmann::json schema = read_schema("plan");
  make_plan();
  EXPECT_EQ(schema_errors(schema, parse_json<nlohmann::json>(contents("p.json"))),
            std::vector<std::string>{});
  for (const char* name : {"hex_newlines", "base64_scan", "bfs", "prefix_scan", "game_of_life"}) {
    const std::string example = std::string(VYRE_SOURCE_DIR "/examples/") + name + ".vyre";
    const auto r = vyre({"plan", example, "--json"});
    if (r.exit_code != 0) {  // not all have a graph
      EXPECT_NE(r.out.find("V0865"), std::string::npos) << name << r.out;
      continue;
    }
    EXPECT_EQ(schema_errors(schema, parse_json<nlohmann::json>(r.out)), std::vector<std::string>{})
        << name;
  }
}

TEST_F(PlanCommandLine, a_plan_runs_and_gives_the_same) {
  make_plan();
  const auto by_plan = run("p.json");
  expect_exit(by_plan, 0);
  EXPECT_NE(by_plan.out.find("9 11 13"), std::string::npos) << by_plan.out;
  for (const char* how : {"none", ""}) {
    const auto r = run(how);
    expect_exit(r, 0);
    EXPECT_EQ(r.out, by_plan.out);
  }
  make_plan({"--no-fusion"});
  EXPECT_EQ(run("p.json").out, by_plan.out);
  make_plan({"--no-fusion", "--no-reuse"});
  EXPECT_EQ(run("p.json").out, by_plan.out);
  file("g.vyre", "// moved\n\n" + std::string(two_stages)
                                      .replace(two_stages.find("shift"), 5, "other")
                                      .replace(two_stages.rfind("shift"), 5, "other"));
  EXPECT_EQ(run("p.json").out, by_plan.out);
}

TEST_F(PlanCommandLine, files_that_are_no_plans_are_V0861) {
  const auto missing = run("nowhere.json");
  expect_exit(missing, 2);
  expect_code(missing, "V0861");
  EXPECT_NE(missing.err.find("nowhere.json"), std::string::npos);
  for (const char* text : {"", "{", "[1]", "{\"format\": \"vyre report\"}"}) {
    file("bad.json", text);
    const auto r = run("bad.json");
    expect_exit(r, 2);
    expect_code(r, "V0861");
  }
  Json j = make_plan();
  j["memory"].erase("slots");
  expect_refused(j, "V0861");
  j = make_plan();
  j["launches"][0]["calls"][0]["node"] = -1;
  expect_refused(j, "V0861");
  const std::string whole = contents("p.json");
  file("p.json", whole.substr(0, whole.size() / 2));
  expect_code(run("p.json"), "V0861");
  const auto json = run("p.json", {"--json"});
  EXPECT_NE(json.exit_code, 0);
  EXPECT_NE((json.out + json.err).find("V0861"), std::string::npos) << json.out << json.err;
}

TEST_F(PlanCommandLine, plans_for_something_else_are_refused) {
  Json j = make_plan();
  j["version"] = 2;
  expect_refused(j, "V0862");
  make_plan();
  const auto longer = vyre({"run", "g.vyre", "--backend", "interp", "--in", "x=1,2,3,4", "--set",
                            "by=2", "--plan", "p.json"});
  expect_exit(longer, 2);
  expect_code(longer, "V0864");
  EXPECT_NE(longer.err.find("len(x) = 4"), std::string::npos) << longer.err;
  EXPECT_NE(longer.err.find("len(x) = 3"), std::string::npos) << longer.err;
  std::string changed = two_stages;
  changed.replace(changed.find("+ 7"), 3, "+ 8");
  file("g.vyre", changed);
  const auto other = run("p.json");
  expect_exit(other, 2);
  expect_code(other, "V0863");
  EXPECT_EQ(other.out.find("10 12 14"), std::string::npos);
}

TEST_F(PlanCommandLine, plans_that_cannot_be_proved_are_refused) {
  Json j = make_plan();
  j["fingerprint"] = std::string(32, '0');
  expect_refused(j, "V0863");
  j = make_plan();
  j["launches"][0]["elided"][0] = {{"buffer", 2}, {"name", "y"}};
  expect_refused(j, "V0875");
  j = make_plan();
  j["launches"][0]["calls"].erase(1);
  expect_refused(j, "V0871");
  j = make_plan({"--no-fusion"});
  for (Json& p : j["memory"]["placement"]) p["offset"] = 3;
  expect_refused(j, "V0882");
  j = make_plan({"--no-fusion"});
  j["memory"]["after"] = 1;
  expect_refused(j, "V0888");
  // Each element is now read by another invocation than the one that wrote it.
  std::string turned = two_stages;
  turned.replace(turned.find("x[global_id.x] + 7"), 14, "x[2 - global_id.x]");
  file("g.vyre", turned);
  j = make_plan();
  EXPECT_EQ(j["launches"][0]["joins"][0], "recompute");
  j["launches"][0]["joins"][0] = "same_invocation";
  expect_refused(j, "V0874");
}

TEST_F(PlanCommandLine, a_kernel_has_no_plan) {
  const auto plan = vyre({"plan", "g.vyre:scale"});
  expect_exit(plan, 2);
  expect_code(plan, "V0865");
  make_plan();
  const auto r = vyre({"run", "g.vyre:shift", "--in", "x=1", "--plan", "p.json"});
  expect_exit(r, 2);
  expect_code(r, "V0865");
  expect_exit(vyre({"run", "g.vyre:shift", "--backend", "interp", "--in", "x=1", "--plan", "none"}),
              0);
}

TEST_F(PlanCommandLine, mistakes_in_its_words) {
  expect_exit(vyre({"plan"}), 2);
  expect_exit(vyre({"plan", "nowhere.vyre"}), 2);
  EXPECT_NE(vyre({"plan", "g.vyre:h"}).exit_code, 0);
  EXPECT_NE(vyre({"plan", "g.vyre", "--len", "z=3"}).exit_code, 0);
  EXPECT_NE(vyre({"plan", "g.vyre", "--backend", "abacus"}).exit_code, 0);
  file("bad.vyre", "graph g() { call k() }\n");
  expect_exit(vyre({"plan", "bad.vyre"}), 2);
}

// ---- The mode of text tests.

TEST_F(PlanCommandLine, text_tests_of_plans_can_fail) {
  const auto runner = [&](const std::string& block, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {std::string(VYRE_BIN_DIR) + "/vyre_text_tests"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(
        file("t.vyre", "// test: plan\n// run: --in x=1,2 --set by=2\n" + block + two_stages));
    ProcessOptions options;
    options.working_folder = folder_.string();
    return run_process(words, options);
  };
  const std::string right = "// plan: scale + shift (same_invocation)\n// elided: t\n";
  EXPECT_EQ(runner(right).exit_code, 0) << runner(right).out;
  EXPECT_EQ(runner(right + "// out: y = 9 11\n").exit_code, 0) << runner(right).out;
  const std::pair<std::string, std::string> wrong[] = {
      {"", "no `// plan:` says"},
      {"// plan: scale\n// plan: shift\n", "the plan has no `plan: scale`"},
      {"// plan: scale + shift (recompute)\n// elided: t\n", "the plan has no"},
      {"// plan: scale + shift (same_invocation)\n", "not expected: elided: t"},
      {right + "// refused: shift \"no\"\n", "the plan has no `refused: shift"},
      {right + "// reused: t y\n", "the plan has no `reused: t y`"},
      {right + "// out: y = 9 12\n", "expected 12, got 11"},
      {right + "// traps: 1\n", "it succeeded"},
      {right + "// pland: x\n", "this is neither"}};
  for (const auto& [block, what] : wrong) {
    const auto r = runner(block);
    EXPECT_EQ(r.exit_code, 1) << block;
    EXPECT_NE(r.out.find(what), std::string::npos) << block << r.out;
  }
  EXPECT_EQ(runner("// plan: scale\n// out: y = 1 1\n", {"--bless"}).exit_code, 0);
  EXPECT_NE(contents("t.vyre").find(right + "// out: y = 9 11\n"), std::string::npos)
      << contents("t.vyre");
}

}  // namespace
}  // namespace vyre
