// `vyre run --report` and `--trace` as a process: the files, when they are written, and refusals.

#include <algorithm>
#include <filesystem>
#include <map>

#include "support/json.h"
#include "tests/cli/cli_util.h"
#include "tests/report/schema_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Reports : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("saxpy.vyre", saxpy);
  }

  ProcessResult run_saxpy(const Words& more) const {
    Words words = {"run", "saxpy.vyre", "--set", "a=2", "--in", "x=1,2,3", "--in", "y=10,20,30"};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words);
  }

  /// The file as JSON, which fits its schema.
  Json valid(const std::string& name, const std::string& schema) const {
    const Json json = try_parse_json<Json>(contents(name));
    EXPECT_FALSE(json.is_discarded()) << contents(name);
    EXPECT_EQ(schema_errors(read_schema(schema), json), Words{});
    return json;
  }
  Json report(const std::string& name = "r.json") const { return valid(name, "run_report"); }

  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
};

TEST_F(Reports, say_what_a_kernel_did) {
  const auto r = run_saxpy({"--report", "r.json", "--repeat", "3", "--backend", "interp"});
  expect_exit(r, 0);
  const Json j = report();
  EXPECT_EQ(j["outcome"], "done");
  EXPECT_EQ(j["file"], "saxpy.vyre");
  EXPECT_EQ(j["program"], "saxpy");
  EXPECT_EQ(j["kind"], "kernel");
  EXPECT_EQ(j["command"][0], "run");
  EXPECT_EQ(j["command"].back(), "interp");
  EXPECT_EQ(j["fingerprint"].get<std::string>().size(), 32u);
  EXPECT_EQ(j["backend"], "interp");
  EXPECT_NE(j["commit"], "");
  EXPECT_NE(j["host"]["name"], "");
  EXPECT_TRUE(j["host"]["system"].get<std::string>().starts_with("Linux ")) << j["host"];
  EXPECT_EQ(j["date"].get<std::string>().size(), 20u);
  EXPECT_EQ(j["chosen_because"], "");
  EXPECT_EQ(j["subgroup_size"], 32);
  EXPECT_EQ(j["workgroup"], Json({64, 1, 1}));
  EXPECT_EQ(j["grid"], Json({3, 1, 1}));
  EXPECT_EQ(j["num_workgroups"], Json({1, 1, 1}));
  for (const char* stage : {"open", "parse", "check", "compile", "upload", "run", "readback"})
    EXPECT_GT(j["stages_ns"][stage], 0) << stage;
  EXPECT_EQ(j["stages_ns"]["optimize"], 0);
  EXPECT_EQ(j["device_time"]["repeats"], 3);
  EXPECT_EQ(j["device_time"]["each_ns"].size(), 3u);
  EXPECT_LE(j["device_time"]["min_ns"], j["device_time"]["median_ns"]);
  EXPECT_EQ(j["bytes"], Json({{"uploaded", 24}, {"read_back", 12}, {"device_peak", 24}}));
  EXPECT_EQ(j["launches"], 1);
  EXPECT_EQ(j["segments"], 1);
  EXPECT_EQ(j["buffers"].size(), 3u);
  EXPECT_EQ(j["buffers"][2]["name"], "y");
  EXPECT_EQ(j["buffers"][2]["role"], "inout");
  EXPECT_EQ(j["buffers"][2]["bytes"], 12);
  EXPECT_EQ(j["buffers"][2]["values"], Json({"12", "24", "36"}));
  EXPECT_EQ(j["buffers"][1]["values"], Json::array());
  EXPECT_EQ(j["bandwidth"]["traffic_bytes"], 36);  // x and y are loaded, y is stored
  EXPECT_GT(j["bandwidth"]["bytes_per_second"], 0);
  EXPECT_EQ(j["bandwidth"]["device_bytes_per_second"], 0);
  EXPECT_EQ(j["bandwidth"]["not_measured"], "the reference interpreter is not measured");
  EXPECT_EQ(j["verified"], false);
  EXPECT_TRUE(j["diagnostics"].empty());
}

TEST_F(Reports, have_the_first_values_of_outputs_that_are_read_back) {
  file("k.vyre",
       "kernel k(a: out u8[20], b: out f32[2], c: out u32[0]) workgroup(32) grid(20) {\n"
       "  a[global_id.x] = u8(global_id.x)\n  b[global_id.x] = -0.5 / 0.0\n}\n");
  expect_exit(vyre({"run", "k.vyre", "--report", "r.json"}), 0);
  Json j = report();
  EXPECT_EQ(j["buffers"][0]["values"].size(), 16u);
  EXPECT_EQ(j["buffers"][0]["values"][15], "15");
  EXPECT_EQ(j["buffers"][1]["values"], Json({"-inf", "-inf"}));
  EXPECT_EQ(j["buffers"][2]["values"], Json::array());
  expect_exit(vyre({"run", "k.vyre", "--report", "r.json", "--print", "b"}), 0);
  j = report();
  EXPECT_EQ(j["buffers"][0]["values"], Json::array());
  EXPECT_EQ(j["buffers"][1]["values"].size(), 2u);
}

TEST_F(Reports, have_the_bandwidth_of_the_device) {
  const auto r = run_saxpy({"--report", "r.json", "--backend", "cpu"});
  if (r.exit_code == 2) GTEST_SKIP() << "backend cpu is not available";
  expect_exit(r, 0);
  const Json b = report()["bandwidth"];
  // A busy machine may take longer than the measurement's time limit.
  EXPECT_EQ(b["not_measured"] == "", b["device_bytes_per_second"] > 0) << b;
}

TEST_F(Reports, say_why_a_device_was_chosen_and_that_it_was_verified) {
  expect_exit(run_saxpy({"--report", "r.json", "--verify"}), 0);
  const Json j = report();
  EXPECT_NE(j["chosen_because"], "");
  EXPECT_EQ(j["verified"], true);
}

TEST_F(Reports, count_the_segments_of_a_kernel_as_those_of_a_graph) {
  file("k.vyre",
       "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n  for i in 0..7 {\n    let v = "
       "x[global_id.x] + i\n    barrier grid\n    x[global_id.x] = v + x[0]\n    barrier grid\n  "
       "}\n}\ngraph g(x: inout u32[]) {\n  call k(x)\n}\n");
  for (const char* backend : {"interp", "cpu"}) {
    Json j[2];
    for (const int i : {0, 1}) {
      expect_exit(vyre({"run", i == 0 ? "k.vyre:k" : "k.vyre:g", "--in", "x=random:100", "--report",
                        "r.json", "--backend", backend, "--repeat", "2"}),
                  0);
      j[i] = report();
      EXPECT_EQ(j[i]["launches"], 1);
    }
    EXPECT_EQ(j[0]["segments"], j[1]["segments"]);
    EXPECT_EQ(j[0]["segments"].get<int>() > 7, std::string(backend) == "cpu") << j[0]["segments"];
  }
}

TEST_F(Reports, count_scratch_memory_and_the_calls_of_a_graph) {
  file("g.vyre",
       "kernel k(t: scratch u32[100], y: inout u32[]) workgroup(4) grid(len(y)) {\n"
       "  t[global_id.x] = y[global_id.x]\n  y[global_id.x] = t[global_id.x] + 1\n}\n"
       "graph g(y: inout u32[]) {\n  repeat 5 {\n    call k(y)\n  }\n}\n");
  expect_exit(vyre({"run", "g.vyre", "--in", "y=1,2,3,4", "--report", "r.json", "--trace", "t.json",
                    "--passes", "none"}),
              0);
  const Json j = report();
  EXPECT_EQ(j["kind"], "graph");
  EXPECT_EQ(j["launches"], 5);
  EXPECT_EQ(j["segments"], 5);
  EXPECT_EQ(j["bytes"]["device_peak"], 16 + 512);  // places are aligned
  EXPECT_EQ(j["buffers"].size(), 1u);
  size_t launches = 0;
  const Json trace = valid("t.json", "trace");
  for (const Json& e : trace["traceEvents"]) launches += e["name"] == "k";
  EXPECT_EQ(launches, 5u);
}

TEST_F(Reports, of_programs_that_fail_have_the_errors) {
  file("k.vyre",
       "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n  assert(global_id.x < 2, 9)\n}\n");
  expect_exit(vyre({"run", "k.vyre", "--report", "r.json", "--trace", "t.json"}), 1);
  const Json j = report();
  EXPECT_EQ(j["outcome"], "failed");
  EXPECT_EQ(j["exit_code"], 1);
  EXPECT_EQ(j["diagnostics"][0]["code"], "V0501");
  EXPECT_EQ(j["diagnostics"][0]["line"], 2);
  EXPECT_NE(j["backend"], "");
  EXPECT_GT(j["stages_ns"]["parse"], 0);
  valid("t.json", "trace");
}

TEST_F(Reports, of_bad_input_too) {
  expect_exit(vyre({"run", "saxpy.vyre", "--in", "z=1", "--report", "r.json"}), 2);
  Json j = report();
  EXPECT_EQ(j["exit_code"], 2);
  EXPECT_EQ(j["program"], "saxpy");
  EXPECT_EQ(j["diagnostics"][0]["code"], "V0609");
  file("bad.vyre", "kernel k(\n");
  expect_exit(vyre({"run", "bad.vyre", "--report", "bad.json"}), 2);
  j = report("bad.json");
  EXPECT_EQ(j["program"], "");
  EXPECT_FALSE(j["diagnostics"].empty());
}

TEST_F(Reports, trace_puts_stages_and_launches_in_order) {
  expect_exit(run_saxpy({"--trace", "t.json", "--repeat", "2", "--verify", "--backend", "interp"}),
              0);
  const Json trace = valid("t.json", "trace");
  Words host, device, tracks;
  double last = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M") {
      if (e["name"] == "thread_name") tracks.push_back(e["args"]["name"]);
      continue;
    }
    (e["tid"] == 1 ? host : device).push_back(e["name"]);
    if (e["tid"] != 1) continue;
    EXPECT_GE(e["ts"].get<double>(), last) << e;
    last = e["ts"].get<double>() + e["dur"].get<double>() - 1;  // a microsecond for rounding
  }
  EXPECT_EQ(host, (Words{"open", "parse", "check", "inputs", "open", "compile", "upload", "run",
                         "restore", "run", "readback", "verify"}));
  EXPECT_EQ(device, (Words{"upload", "saxpy", "restore", "saxpy", "readback"}));
  EXPECT_EQ(tracks[0], "host");
  EXPECT_TRUE(tracks[1].starts_with("device: ")) << tracks[1];
}

TEST_F(Reports, trace_events_say_what_was_launched_and_copied) {
  file("g.vyre",
       "kernel k(y: inout u32[]) workgroup(4) grid(len(y)) { y[global_id.x] += 1 }\n"
       "graph g(y: inout u32[]) { repeat 2 { call k(y) } }\n");
  for (const char* name : {"k", "g"}) {
    expect_exit(vyre({"run", std::string("g.vyre:") + name, "--in", "y=1,2,3,4,5", "--trace",
                      "t.json", "--passes", "none", "--backend", "interp"}),
                0);
    std::map<std::string, Json> arguments;
    const Json trace = valid("t.json", "trace");
    for (const Json& e : trace["traceEvents"])
      if (e["ph"] == "X" && e["tid"] == 2) arguments[e["name"]] = e["args"];
    EXPECT_EQ(arguments["upload"], Json({{"bytes", 20}}));
    EXPECT_EQ(arguments["readback"], Json({{"bytes", 20}}));
    EXPECT_EQ(
        arguments["k"],
        Json({{"kernel", "k"}, {"grid", {5, 1, 1}}, {"workgroups", {2, 1, 1}}, {"bytes", 40}}));
  }
}

TEST_F(Reports, many_repeats_do_not_make_a_trace_without_end) {
  expect_exit(run_saxpy({"--trace", "t.json", "--report", "r.json", "--repeat", "20000"}), 0);
  EXPECT_EQ(report()["device_time"]["repeats"], 20000);
  const Json trace = valid("t.json", "trace");
  EXPECT_LT(trace["traceEvents"].size(), 10'000u);
  const bool has_readback = std::any_of(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                                        [](const Json& e) { return e["name"] == "readback"; });
  EXPECT_TRUE(has_readback);
}

TEST_F(Reports, forms_that_are_not_there) {
  auto r = run_saxpy({"--report", "r.txt"});
  expect_exit(r, 2);
  expect_code(r, "V0623");
  EXPECT_NE(r.err.find("`--report r.json`"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("`--report r.html`"), std::string::npos) << r.err;
  for (const char* name : {"r.xml", "r", "r.json.txt", "r.html.gz"}) {
    r = run_saxpy({"--report", name});
    expect_exit(r, 2);
    expect_code(r, "V0623");
    EXPECT_FALSE(exists(name));
  }
}

TEST_F(Reports, paths_that_cannot_be_written_are_found_before_the_run) {
  file("k.vyre", "kernel k(y: inout u32[]) workgroup(1) grid(1) {\n  while y[0] == 0 { }\n}\n");
  for (const char* option : {"--report", "--trace"}) {
    // It would never end if it began.
    const auto r = vyre({"run", "k.vyre", "--in", "y=0", option, "missing/r.json"});
    expect_exit(r, 3);
    expect_code(r, "V0641");
  }
  const auto r =
      run_saxpy({"--report", "r.json", "--trace", "missing/t.json", "--out", "y=@y.bin"});
  expect_exit(r, 3);
  EXPECT_EQ(report()["exit_code"], 3);
  EXPECT_FALSE(exists("y.bin"));
}

// A device can be written to and still be full, which only the writing finds out.
TEST_F(Reports, a_full_disk_is_found_once) {
  std::filesystem::create_symlink("/dev/full", path("full.json"));
  const auto r = run_saxpy({"--report", "full.json"});
  expect_exit(r, 3);
  expect_code(r, "V0641");
  EXPECT_TRUE(r.err.ends_with("\n1 error\n")) << r.err;
}

TEST_F(Reports, one_file_for_two_options) {
  for (const Words& words : {Words{"--report", "a.json", "--trace", "./a.json"},
                             Words{"--out", "y=@a.json", "--trace", "a.json"}}) {
    const auto r = run_saxpy(words);
    expect_exit(r, 2);
    expect_code(r, "V0610");
  }
}

TEST_F(Reports, replace_a_file_whole) {
  file("r.json", std::string(100'000, 'x'));
  expect_exit(run_saxpy({"--report", "r.json"}), 0);
  report();
  size_t entries = 0;
  for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(folder_)) ++entries;
  EXPECT_EQ(entries, 2u);  // nothing temporary is left
}

}  // namespace
}  // namespace vyre
