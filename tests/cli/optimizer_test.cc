// The optimizer on the command line: --passes, --opt, profiles, reports, `vyre opt`, `vyre bisect`.
// V0801, V0802, V0804, V0805

#include <filesystem>

#include "opt/passes_doc.h"
#include "opt/pipeline.h"
#include "runtime/registry.h"
#include "support/file.h"
#include "support/json.h"
#include "tests/cli/cli_util.h"
#include "tests/report/schema_util.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// Below the threshold of the loop passes, with something to hoist, and long enough to be hot.
const char* const hot =
    "kernel hot(a: u32, y: inout u32[]) workgroup(4) grid(len(y)) op_id(\"test.hot\") {\n"
    "  for i in 0..20000 {\n"
    "    y[0] = a * 3\n"
    "  }\n"
    "}\n";

const char* const folds =
    "kernel folds(y: inout u32[]) workgroup(4) grid(len(y)) {\n"
    "  let i = global_id.x\n"
    "  y[i] = y[i] + (4 - 1)\n"
    "}\n";

class OptimizerCommands : public CommandLine {
 protected:
  bool has_cpu() const { return vyre({"devices"}).out.find("cpu:0") != std::string::npos; }

  Json json_of(const std::string& text) const {
    const Json j = try_parse_json<Json>(text);
    EXPECT_FALSE(j.is_discarded()) << text;
    return j;
  }
  /// The report of a run of `words`, which fits its schema.
  Json report(Words words, int exit = 0) const {
    words.insert(words.end(), {"--report", "r.json"});
    expect_exit(vyre(words), exit);
    const Json j = json_of(contents("r.json"));
    EXPECT_EQ(schema_errors(read_schema("run_report"), j), Words{});
    return j;
  }
  static Json choice(const Json& report, const std::string& pass) {
    for (const Json& c : report["optimizer"][0]["choices"])
      if (c["pass"] == pass) return c;
    ADD_FAILURE() << pass << " is not in " << report["optimizer"];
    return {};
  }
  static Json decisions(const Json& report, const std::string& pass) {
    Json list = Json::array();
    for (const Json& r : report["optimizer"][0]["runs"])
      if (r["pass"] == pass) list.push_back(r["decision"]);
    return list;
  }
};

// ---- vyre run

TEST_F(OptimizerCommands, a_measured_program_is_compiled_differently) {
  const Words run = {"run",       file("hot.vyre", hot),
                     "--backend", "interp",
                     "--opt",     "release",
                     "--set",     "a=2",
                     "--in",      "y=1,2"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  const Json cold = report(with({"--profile-out", "p.json"}));
  EXPECT_EQ(choice(cold, "hoist_invariants")["reason"], "below_threshold");
  EXPECT_EQ(decisions(cold, "hoist_invariants"), Json::array());
  EXPECT_GT(cold["stages_ns"]["optimize"], 0);
  const Json profile = json_of(contents("p.json"));
  ASSERT_EQ(profile["hints"].size(), 1u);
  EXPECT_EQ(profile["hints"][0]["op_id"], "test.hot");
  EXPECT_EQ(profile["hints"][0]["launches"], 1);
  EXPECT_EQ(profile["hints"][0]["bytes"], 8);
  EXPECT_TRUE(profile["reports"].contains(cold["fingerprint"].get<std::string>()));
  ASSERT_GE(profile["hints"][0]["total_ns"], 100'000) << "the kernel is too fast to be hot";

  const Json warm =
      report(with({"--profile-in", "p.json", "--profile-out", "p.json", "--repeat", "3"}));
  const Json c = choice(warm, "hoist_invariants");
  EXPECT_EQ(c["reason"], "hot_path_telemetry");
  EXPECT_EQ(c["priority"], 500);
  EXPECT_EQ(c["selected"], true);
  EXPECT_EQ(decisions(warm, "hoist_invariants")[0], "changed");
  EXPECT_EQ(json_of(contents("p.json"))["hints"][0]["launches"], 4) << "one before, three now";
}

TEST_F(OptimizerCommands, what_one_device_measured_says_nothing_of_another) {
  file("hot.vyre", hot);
  file("p.json",
       "{\"schema\": \"vyre-profile\", \"version\": 1, \"reports\": {}, \"hints\": [{\"device\": "
       "\"interp: reference interpreter, one core\", \"op_id\": \"test.hot\", \"launches\": 2, "
       "\"total_ns\": 256000, \"bytes\": 8}]}");
  const auto reason = [&](const std::string& backend) {
    const auto r =
        vyre({"opt", "hot.vyre", "--backend", backend, "--profile-in", "p.json", "--json"});
    expect_exit(r, 0);
    const Json j = json_of(r.out);
    for (const Json& c : j["kernels"][0]["choices"])
      if (c["pass"] == "hoist_invariants")
        return c["reason"].get<std::string>() + ": " + c["detail"].get<std::string>();
    return std::string();
  };
  EXPECT_EQ(reason("interp"),
            "hot_path_telemetry: launches of `test.hot` take 128000 ns on average (2 measured on "
            "interp: reference interpreter, one core); hot from 100000 ns");
  if (!has_cpu()) GTEST_SKIP() << "this build has no CPU component";
  EXPECT_EQ(reason("cpu"), "below_threshold: 11 ops, family Loop needs 12");
}

TEST_F(OptimizerCommands, a_pass_that_helped_runs_because_it_did) {
  const Words run = {
      "run", file("folds.vyre", folds), "--backend", "interp", "--opt", "release", "--in", "y=1,2"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  const Json cold = report(with({"--profile-out", "p.json"}));
  EXPECT_EQ(choice(cold, "fold_constants")["reason"], "always_on");
  const Json warm = report(with({"--profile-in", "p.json"}));
  EXPECT_EQ(choice(warm, "fold_constants")["reason"], "pass_cost_report");
  EXPECT_EQ(choice(warm, "fold_constants")["priority"], 400);
  EXPECT_EQ(choice(warm, "merge_barriers")["reason"], "always_on")
      << "it did nothing the last time";
  // Another program learns nothing from it.
  file("folds.vyre", std::string(folds) + "\n");
  EXPECT_EQ(choice(report(with({"--profile-in", "p.json"})), "fold_constants")["reason"],
            "pass_cost_report");
  std::string other = folds;
  other.replace(other.find("4 - 1"), 5, "5 - 1");
  file("folds.vyre", other);
  EXPECT_EQ(choice(report(with({"--profile-in", "p.json"})), "fold_constants")["reason"],
            "always_on");
}

TEST_F(OptimizerCommands, profiles_that_cannot_be_used_are_errors_before_the_run) {
  const std::string program = file("folds.vyre", folds);
  const auto with = [&](Words more) {
    more.insert(more.begin(), {"run", program, "--in", "y=1"});
    return vyre(more);
  };
  for (const std::string text :
       {"", "{", "[]",
        "{\"schema\": \"vyre-profile\", \"version\": 99, \"hints\": [], \"reports\": {}}"}) {
    file("bad.json", text);
    const auto r = with({"--profile-in", "bad.json"});
    expect_exit(r, 2);
    expect_code(r, "V0804");
    EXPECT_EQ(r.out, "");
  }
  expect_code(with({"--profile-in", "missing.json"}), "V0804");
  const auto nowhere = with({"--profile-out", "no/such/folder.json"});
  expect_exit(nowhere, 3);
  expect_code(nowhere, "V0641");
  EXPECT_EQ(nowhere.out, "");
  expect_code(with({"--profile-out", "x.json", "--report", "x.json"}), "V0610");
}

TEST_F(OptimizerCommands, failed_runs_write_no_profile_but_report_the_passes) {
  file("k.vyre",
       "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n  assert(global_id.x < 5 - 3, 9)\n}\n");
  const Json j = report(
      {"run", "k.vyre", "--backend", "interp", "--opt", "release", "--profile-out", "p.json"}, 1);
  EXPECT_EQ(decisions(j, "fold_constants")[0], "changed");
  EXPECT_EQ(j["diagnostics"][0]["line"], 2);
  EXPECT_FALSE(std::filesystem::exists(path("p.json")));
}

TEST_F(OptimizerCommands, passes_can_be_named_or_left_out) {
  const Words run = {"run", file("folds.vyre", folds), "--backend", "interp", "--in", "y=1,2"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  EXPECT_TRUE(report(with({"--passes", "none"}))["optimizer"][0]["runs"].empty());
  const Json one = report(with({"--passes", "fold_constants"}));
  EXPECT_EQ(one["optimizer"][0]["profile"], "named");
  EXPECT_EQ(one["optimizer"][0]["choices"].size(), 1u);
  EXPECT_EQ(decisions(one, "fold_constants")[0], "changed");
  const auto unknown = vyre(with({"--passes", "fold_constant"}));
  expect_exit(unknown, 2);
  expect_code(unknown, "V0801");
  EXPECT_NE(unknown.err.find("write `fold_constants`"), std::string::npos);
  expect_code(vyre(with({"--passes", "fold_constants,fold_constants"})), "V0802");
  expect_code(vyre(with({"--opt", "fast"})), "V0607");
  expect_code(vyre(with({"--opt", "none", "--passes", "fold_constants"})), "V0606");
}

TEST_F(OptimizerCommands, the_cpu_optimizes_and_traps_name_their_line_from_the_cache_too) {
  if (!has_cpu()) GTEST_SKIP() << "this build has no CPU component";
  file("k.vyre",
       "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
       "  let unused = x[0] * 5 + 1 - 1\n"
       "  let i = global_id.x * (2 - 1)\n"
       "  assert(x[i] < 4, 77)\n"
       "  y[i] = i\n"
       "}\n");
  ::setenv("VYRE_CACHE_DIR", path("cache").c_str(), 1);
  const auto once = [&](const char* x, int exit) {
    return report({"run", "k.vyre", "--backend", "cpu", "--in", x}, exit);
  };
  const Json first = once("x=1,2,3", 0);
  EXPECT_EQ(first["code"]["origin"], "compiled");
  EXPECT_EQ(first["optimizer"][0]["profile"], "release");
  EXPECT_GT(first["stages_ns"]["optimize"], 0);
  EXPECT_GT(first["stages_ns"]["emit"], 0);
  const Json again = once("x=1,2,3", 0);
  EXPECT_EQ(again["code"]["origin"], "disk cache");
  EXPECT_EQ(again["stages_ns"]["emit"], 0);
  const Json trapped = once("x=1,2,9", 1);
  EXPECT_EQ(trapped["code"]["cache"]["disk_hits"], 1);
  EXPECT_EQ(trapped["diagnostics"][0]["code"], "V0501");
  EXPECT_EQ(trapped["diagnostics"][0]["line"], 4);
  const Json off = report({"run", "k.vyre", "--backend", "cpu", "--in", "x=1", "--passes", "none"});
  EXPECT_EQ(off["code"]["origin"], "compiled") << "another program, another key";
  ::unsetenv("VYRE_CACHE_DIR");
}

TEST_F(OptimizerCommands, emit_optimizes_as_run_does) {
  const std::string program = file("div.vyre",
                                   "kernel div(y: inout u32[]) workgroup(4) grid(len(y)) {\n  "
                                   "y[global_id.x] = y[global_id.x] / 7\n}\n");
  const auto some = vyre({"emit", program, "--target", "llvm", "--unoptimized"});
  if (some.err.find("is not here") != std::string::npos)
    GTEST_SKIP() << "this build has no CPU component";
  expect_exit(some, 0);
  const auto none =
      vyre({"emit", program, "--target", "llvm", "--unoptimized", "--passes", "none"});
  expect_exit(none, 0);
  EXPECT_TRUE(some.out != none.out) << "the division is still there";
  const auto unknown = vyre({"emit", program, "--target", "llvm", "--passes", "x"});
  expect_exit(unknown, 2);
  expect_code(unknown, "V0801");
}

// ---- vyre opt

TEST_F(OptimizerCommands, opt_prints_a_program_that_does_the_same) {
  const std::string program = file("folds.vyre", folds);
  const auto r = vyre({"opt", program});
  expect_exit(r, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out.find("sub"), std::string::npos) << r.out;
  file("after.vyre", r.out);
  const auto ran = vyre({"run", "after.vyre", "--in", "y=1,2", "--print", "y"});
  expect_exit(ran, 0);
  EXPECT_EQ(ran.out, "y: 4 5\n");
  EXPECT_NE(vyre({"opt", program, "--passes", "none"}).out.find("sub"), std::string::npos);
}

TEST_F(OptimizerCommands, opt_takes_one_kernel_or_all_and_keeps_graphs) {
  file("g.vyre",
       "kernel a(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 3 - 1\n}\n"
       "kernel b(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 5 - 1\n}\n"
       "graph g(y: inout u32[]) {\n  call a(y)\n  call b(y)\n}\n");
  const auto all = vyre({"opt", "g.vyre"});
  expect_exit(all, 0);
  EXPECT_EQ(all.out.find("sub"), std::string::npos) << all.out;
  file("after.vyre", all.out);
  EXPECT_EQ(vyre({"run", "after.vyre", "--in", "y=1", "--print", "y"}).out, "y: 7\n");
  const auto one = vyre({"opt", "g.vyre:b"});
  EXPECT_NE(one.out.find("kernel b"), std::string::npos);
  EXPECT_EQ(one.out.find("kernel a"), std::string::npos);
  expect_code(vyre({"opt", "g.vyre:g"}), "V0606");
  expect_code(vyre({"opt"}), "V0604");
}

TEST_F(OptimizerCommands, opt_shows_every_pass_and_stops_where_told) {
  const std::string program = file("folds.vyre", folds);
  const auto every = vyre({"opt", program, "--print-after-all"});
  expect_exit(every, 0);
  EXPECT_NE(every.err.find(
                "// kernel `folds`, iteration 1, fold_constants: changed; instructions 6 -> 5"),
            std::string::npos)
      << every.err;
  EXPECT_NE(every.err.find("merge_barriers: nothing_to_do"), std::string::npos);
  const auto changed = vyre({"opt", program, "--print-changed"});
  EXPECT_NE(changed.err.find("fold_constants: changed"), std::string::npos);
  EXPECT_EQ(changed.err.find("merge_barriers"), std::string::npos);
  EXPECT_EQ(changed.out, every.out);
  EXPECT_NE(vyre({"opt", program, "--stop-after", "0"}).out.find("sub"), std::string::npos);
  EXPECT_EQ(vyre({"opt", program, "--stop-after", "1"}).out.find("sub"), std::string::npos);
  expect_code(vyre({"opt", program, "--stop-after", "x"}), "V0607");
  const auto times = vyre({"opt", program, "--time-passes"});
  EXPECT_NE(times.err.find("fold_constants"), std::string::npos);
  EXPECT_NE(times.err.find("always_on 200"), std::string::npos);
  EXPECT_NE(times.err.find("below_threshold 0"), std::string::npos);
  const Json j = json_of(vyre({"opt", program, "--json"}).out);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["kernels"][0]["program"], "folds");
  EXPECT_EQ(j["kernels"][0]["text"], vyre({"opt", program + ":folds"}).out);
}

TEST_F(OptimizerCommands, opt_lists_the_passes) {
  const auto text = vyre({"opt", "--list"});
  expect_exit(text, 0);
  const Json j = json_of(vyre({"opt", "--list", "--json"}).out);
  ASSERT_EQ(j.size(), opt::all_passes().size());
  for (const Json& pass : j) {
    EXPECT_NE(text.out.find(pass["name"].get<std::string>() + " "), std::string::npos);
    EXPECT_NE(pass["summary"], "");
  }
  expect_code(vyre({"opt", "--markdown"}), "V0606");
}

TEST(PassesDoc, is_current) {
  const FileContents file = read_file(VYRE_SOURCE_DIR "/docs/passes.md");
  ASSERT_TRUE(file) << file.error->what;
  EXPECT_TRUE(file.bytes == opt::passes_markdown())
      << "docs/passes.md is out of date; run\n  build/release/bin/vyre opt --list --markdown > "
         "docs/passes.md";
}

// ---- vyre bisect, in this process: the wrong passes are in no other

Result<bool> subtract_instead(Program& p, opt::PassContext&) {
  bool changed = false;
  for (Op& op : p.ops)
    if (op.code == Opcode::Add) op.code = Opcode::Sub, changed = true;
  return changed;
}
constexpr opt::PassDescriptor wrong = {.name = "subtract_instead",
                                       .summary = "is wrong",
                                       .run = subtract_instead,
                                       .phase = opt::Phase::Loop};

Result<bool> lie(Program& p, opt::PassContext&) {
  p.workgroup[0] = 0;
  return true;
}
constexpr opt::PassDescriptor illegal = {
    .name = "break_it", .summary = "breaks programs", .run = lie};

struct Ended {
  int code = 0;
  std::string out, err;
};
template <class Run>
Ended captured(const Run& run) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Ended e;
  e.code = run();
  std::fflush(stdout);
  e.out = ::testing::internal::GetCapturedStdout();
  e.err = ::testing::internal::GetCapturedStderr();
  return e;
}

class Bisect : public OptimizerCommands {
 protected:
  Ended bisect(const std::string& program, const std::string& input, Words more = {},
               const std::string& backend = "interp") {
    Words words = {"bisect", program, "--backend", backend, "--in", input};
    words.insert(words.end(), more.begin(), more.end());
    const auto command = cli::parse_command_line(words);
    EXPECT_TRUE(command);
    return captured([&] { return cli::bisect(std::get<cli::BisectCommand>(*command)); });
  }
};

TEST_F(Bisect, finds_the_wrong_pass_and_gives_the_program_before_it) {
  const std::string program = file("folds.vyre", folds);
  const opt::RegisterPassForTest registered(wrong);
  const Ended e = bisect(program, "y=10,20");
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("error[V0631]: pass `subtract_instead` makes the result of `folds` differ"),
            std::string::npos)
      << e.err;
  EXPECT_NE(e.err.find("kernel `folds`, iteration 1"), std::string::npos) << e.err;
  EXPECT_NE(e.err.find("`y[0]` is 7 with `--backend interp` and 13 with the interpreter"),
            std::string::npos)
      << e.err;
  // The program before it is right, the pass makes it wrong, and passes before have done their
  // work.
  file("before.vyre", e.out);
  EXPECT_EQ(vyre({"run", "before.vyre", "--in", "y=10,20", "--print", "y"}).out, "y: 13 23\n");
  EXPECT_EQ(e.out.find("sub"), std::string::npos) << e.out;

  const Ended into = bisect(program, "y=10,20", {"-o", path("b.vyre")});
  EXPECT_EQ(into.out, "");
  EXPECT_EQ(contents("b.vyre"), e.out);
  const Json j = json_of(bisect(program, "y=10,20", {"--json"}).out);
  EXPECT_EQ(j["pass"], "subtract_instead");
  EXPECT_EQ(j["before"], e.out);
  EXPECT_EQ(j["ok"], false);
  EXPECT_GT(j["run"], 1);
}

TEST_F(Bisect, is_within_the_limits) {
  const std::string endless =
      file("e.vyre", "kernel e(y: inout u32[]) workgroup(1) grid(1) {\n  while y[0] == 0 { }\n}\n");
  Ended e = bisect(endless, "y=0", {"--time-limit", "0.2"});
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("error[V0502]"), std::string::npos) << e.err;
  e = bisect(file("folds.vyre", folds), "y=10,20", {"--memory-limit", "10"});
  EXPECT_NE(e.err.find("error[V0503]"), std::string::npos) << e.err;
  EXPECT_EQ(
      bisect(path("folds.vyre"), "y=10,20", {"--memory-limit", "1M", "--time-limit", "100"}).code,
      0);
}

Result<bool> loop_forever(Program& p, opt::PassContext&) {
  bool changed = false;
  for (Op& op : p.ops)
    if (op.code == Opcode::Add) op.code = Opcode::And, changed = true;
  return changed;
}
constexpr opt::PassDescriptor endless = {
    .name = "loop_forever", .summary = "is wrong", .run = loop_forever, .phase = opt::Phase::Loop};

/// The runs share the limit, so each that does not end has a part of it (time_budget_test.cc).
TEST_F(Bisect, finds_the_pass_that_makes_a_loop_endless) {
  const std::string program =
      file("l.vyre",
           "kernel l(y: inout u32[]) workgroup(1) grid(1) {\n  while y[0] != 6 { y[0] += 2 }\n}\n");
  const opt::RegisterPassForTest registered(endless);
  const Ended e = bisect(program, "y=2", {"--time-limit", "4"});
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("pass `loop_forever` makes the result of `l` differ"), std::string::npos)
      << e.err;
}

TEST_F(Bisect, finds_the_kernel_of_a_graph) {
  file("g.vyre",
       "kernel a(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] *= 3 - 1\n}\n"
       "kernel b(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 5 - 1\n}\n"
       "graph g(y: inout u32[]) {\n  call a(y)\n  call b(y)\n}\n");
  const opt::RegisterPassForTest registered(wrong);
  const Ended e = bisect(path("g.vyre"), "y=10");
  EXPECT_EQ(e.code, 1);
  // The kernel that runs: the two calls are one launch.
  EXPECT_NE(e.err.find("kernel `a_b`, iteration 1"), std::string::npos) << e.err;
  file("before.vyre", e.out);
  EXPECT_EQ(vyre({"run", "before.vyre", "--in", "y=10", "--print", "y"}).out, "y: 24\n");
}

// Right on the kernels that were written, wrong on the one that they become.
Result<bool> subtract_if_fused(Program& p, opt::PassContext& context) {
  if (p.name == "a" || p.name == "b") return false;
  return subtract_instead(p, context);
}
constexpr opt::PassDescriptor wrong_if_fused = {.name = "subtract_if_fused",
                                                .summary = "is wrong",
                                                .run = subtract_if_fused,
                                                .phase = opt::Phase::Loop};

const char* const two_calls =
    "kernel a(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] *= 3 - 1\n}\n"
    "kernel b(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 5 - 1\n}\n"
    "graph g(y: inout u32[]) {\n  call a(y)\n  call b(y)\n}\n";

TEST_F(Bisect, searches_the_passes_of_the_kernels_that_the_plan_makes) {
  file("g.vyre", two_calls);
  const opt::RegisterPassForTest registered(wrong_if_fused);
  const Ended e = bisect(path("g.vyre"), "y=10");
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("pass `subtract_if_fused` makes the result of `g` differ"),
            std::string::npos)
      << e.err;
}

// The pass is selected for launches of at least 16 KiB: `run` does not run it on a small one.
constexpr opt::PassDescriptor wrong_if_large = {.name = "subtract_if_large",
                                                .summary = "is wrong",
                                                .run = subtract_instead,
                                                .phase = opt::Phase::Loop,
                                                .family = opt::CostFamily::Memory};

TEST_F(Bisect, selects_the_passes_that_run_selects_for_the_same_launch) {
  const std::string program = file("folds.vyre", folds);
  const opt::RegisterPassForTest registered(wrong_if_large);
  const Ended small = bisect(program, "y=10,20");
  EXPECT_EQ(small.code, 0) << small.err;
  const Ended large = bisect(program, "y=@" + file("large.bin", std::string(16384, '\1')));
  EXPECT_EQ(large.code, 1);
  EXPECT_NE(large.err.find("pass `subtract_if_large`"), std::string::npos) << large.err;
}

TEST_F(Bisect, a_trap_that_comes_or_goes_is_a_difference) {
  file("k.vyre",
       "kernel k(y: inout u32[]) workgroup(4) grid(len(y)) {\n  assert(y[0] + 1 > 2, 5)\n}\n");
  const opt::RegisterPassForTest registered(wrong);
  const Ended e = bisect(path("k.vyre"), "y=2");
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("fails with V0501"), std::string::npos) << e.err;
}

TEST_F(Bisect, no_difference_is_said_and_mistakes_are) {
  const std::string program = file("folds.vyre", folds);
  const Ended fine = bisect(program, "y=10,20");
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.out.find("ok: `folds` gives the interpreter's result"), 0u) << fine.out;
  const auto bad = vyre({"bisect", "folds.vyre", "--backend", "nothing", "--in", "y=1"});
  expect_exit(bad, 2);
  expect_code(vyre({"bisect", "folds.vyre", "--backend", "interp"}), "V0451");
  expect_code(
      vyre({"bisect", "folds.vyre", "--backend", "interp", "--in", "y=1", "-o", "no/such/f"}),
      "V0641");
}

/// The interpreter, but the first byte of what is read back is one more, if a kernel was compiled
/// that is not one of `right`.
class OneMore : public driver::Backend {
 public:
  explicit OneMore(Words right = {}) : right_(std::move(right)) {}
  std::string_view name() const override { return "onemore"; }
  std::string_view summary() const override { return "is wrong"; }
  std::vector<driver::DeviceInfo> probe(std::string*) override { return {info()}; }
  Result<std::unique_ptr<driver::BackendDevice>> open(uint32_t) override {
    auto made = std::make_unique<Wrapped>();
    made->inner = std::move(*interp().open(0));
    made->info_ = info();
    made->right = right_;
    return std::unique_ptr<driver::BackendDevice>(std::move(made));
  }

 private:
  static driver::Backend& interp() { return *driver::choose("interp")->backend; }
  static driver::DeviceInfo info() {
    driver::DeviceInfo i = interp().probe(nullptr)[0];
    i.backend = "onemore";
    return i;
  }
  struct Wrapped : driver::BackendDevice {
    std::unique_ptr<BackendDevice> inner;
    driver::DeviceInfo info_;
    Words right;
    bool is_wrong = false;
    std::vector<std::shared_ptr<std::vector<std::byte>>> read;
    const driver::DeviceInfo& info() const override { return info_; }
    Result<driver::MemoryHandle> allocate(uint64_t n) override { return inner->allocate(n); }
    void release(driver::MemoryHandle m) override { inner->release(m); }
    Result<std::shared_ptr<driver::CompiledKernel>> compile(
        std::shared_ptr<const Program> p, const driver::CompileOptions& o) override {
      is_wrong = std::find(right.begin(), right.end(), p->name) == right.end();
      return inner->compile(p, o);
    }
    Result<driver::SubmissionHandle> submit(
        uint32_t s, std::vector<driver::DeviceCommand> c,
        std::span<const driver::SubmissionHandle> a,
        std::optional<std::chrono::steady_clock::time_point> d) override {
      for (const driver::DeviceCommand& one : c)
        if (const auto* r = one.as<driver::DeviceReadback>()) read.push_back(r->staging);
      return inner->submit(s, std::move(c), a, d);
    }
    bool is_done(driver::SubmissionHandle h) override { return inner->is_done(h); }
    driver::SubmissionOutcome wait(driver::SubmissionHandle h) override {
      auto outcome = inner->wait(h);
      for (const auto& staging : read)
        if (is_wrong) staging->front() = std::byte(uint8_t(staging->front()) + 1);
      read.clear();
      return outcome;
    }
  };
  const Words right_;
};

TEST_F(Bisect, a_difference_without_passes_is_the_backends) {
  OneMore backend;
  const driver::RegisterForTest registered(&backend);
  const Ended e = bisect(file("folds.vyre", folds), "y=10,20", {}, "onemore");
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("error[V0631]: the result differs with no pass: it is backend `onemore`"),
            std::string::npos)
      << e.err;
  EXPECT_NE(e.err.find("`y[0]` is 14"), std::string::npos) << e.err;
  EXPECT_EQ(e.out, "");
  const Json j = json_of(bisect(path("folds.vyre"), "y=10,20", {"--json"}, "onemore").out);
  EXPECT_EQ(j["pass"], "");
  EXPECT_EQ(j["ok"], false);
}

TEST_F(Bisect, a_difference_that_goes_without_a_plan_is_the_plans) {
  OneMore backend({"a", "b"});
  const driver::RegisterForTest registered(&backend);
  const Ended e = bisect(file("g.vyre", two_calls), "y=10,20", {}, "onemore");
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.err.find("it is the plan of graph `g`"), std::string::npos) << e.err;
  EXPECT_NE(e.err.find("`vyre run --plan none`"), std::string::npos) << e.err;
}

TEST_F(OptimizerCommands,
       a_pass_that_breaks_the_program_is_vyres_fault_and_leaves_the_program_before) {
  const std::string program = file("folds.vyre", folds);
  const opt::RegisterPassForTest registered(illegal);
  cli::OptCommand command;
  command.file = program;
  const Ended e = captured([&] { return cli::optimize(command); });
  EXPECT_EQ(e.code, 3);
  EXPECT_NE(e.err.find("error[V0805]: pass `break_it` broke kernel `folds`"), std::string::npos)
      << e.err;
  const std::string begin = "the program before it is in ";
  const size_t at = e.err.find(begin);
  ASSERT_NE(at, std::string::npos) << e.err;
  const std::string before =
      e.err.substr(at + begin.size(), e.err.find('\n', at) - at - begin.size());
  expect_exit(vyre({"run", before, "--in", "y=1"}), 0);
  std::filesystem::remove(before);
}

}  // namespace
}  // namespace vyre
