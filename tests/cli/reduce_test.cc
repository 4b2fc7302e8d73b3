// `vyre reduce`, and the reduced programs that `vyre fuzz` leaves.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fuzz/fuzz.h"
#include "opt/pipeline.h"
#include "tests/cli/cli_util.h"
#include "tools/vyre/commands.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

constexpr const char* sums =
    "kernel sums(n: u32, x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n"
    "  shared t: u32[8]\n  let i = global_id.x\n"
    "  t[local_id.x] = x[i]\n  barrier workgroup\n"
    "  var sum: u32 = 0\n"
    "  for k in 0..8 { if t[k] > n { sum += t[k] ^ 5 } }\n"
    "  y[i] = sum\n}\n";

/// `+` becomes `-`.
Result<bool> subtract_instead(Program& p, opt::PassContext&) {
  bool changed = false;
  for (Op& op : p.ops)
    if (op.code == Opcode::Add) op.code = Opcode::Sub, changed = true;
  return changed;
}
constexpr opt::PassDescriptor wrong = {
    .name = "subtract_instead", .summary = "is wrong", .run = subtract_instead};

struct Ended {
  int code = 0;
  std::string out, err;
};

class ReduceCommandLine : public CommandLine {
 protected:
  /// In this process: the wrong pass is in no other.
  Ended reduce_here(Words words) const {
    words.insert(words.begin(), "reduce");
    const auto command = cli::parse_command_line(words);
    EXPECT_TRUE(command);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ended e;
    e.code = cli::reduce(std::get<cli::ReduceCommand>(*command));
    std::fflush(stdout);
    e.out = ::testing::internal::GetCapturedStdout();
    e.err = ::testing::internal::GetCapturedStderr();
    return e;
  }
  ProcessResult text_tests(const std::string& file) const {
    return run_process({VYRE_BIN_DIR "/vyre_text_tests", file},
                       {.working_folder = folder_.string()});
  }
};

// ---- A command.

TEST_F(ReduceCommandLine, a_test_keeps_what_the_command_looks_for) {
  file("k.vyre", sums);
  const auto r = vyre({"reduce", "k.vyre", "--test", "grep -q xor {}"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("xor"), std::string::npos) << r.out;
  EXPECT_LT(r.out.size(), 200u) << r.out;
  EXPECT_NE(r.err.find(" ops of "), std::string::npos) << r.err;
  // It is a program, and the smallest: there is nothing more to remove.
  file("small.vyre", r.out);
  expect_exit(vyre({"check", "small.vyre"}), 0);
  EXPECT_EQ(vyre({"reduce", "small.vyre", "--test", "grep -q xor"}).out, r.out);
}

TEST_F(ReduceCommandLine, a_test_may_look_for_an_error) {
  file("k.vyre",
       "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
       "  y[0] = x[1] * 3\n  if local_id.x < x[0] {\n    y[global_id.x] = 7\n"
       "    barrier workgroup\n  }\n}\n");
  const std::string test = std::string(VYRE_BIN_DIR) + "/vyre check {} 2>&1 | grep -q V0301";
  const auto r = vyre({"reduce", "k.vyre", "--test", test});
  expect_exit(r, 0);
  file("small.vyre", r.out);
  expect_code(vyre({"check", "small.vyre"}), "V0301");
  EXPECT_EQ(r.out.find("mul"), std::string::npos) << r.out;
}

TEST_F(ReduceCommandLine, the_command_runs_in_an_empty_folder_and_a_relative_script_is_found) {
  file("k.vyre", sums);
  const std::string script = file("is_shift.sh",
                                  "#!/bin/sh\n[ \"$(ls)\" = k.vyre ] || exit 1\n"
                                  "echo > left_over\ngrep -q popcount\\\\\\|xor \"$1\"\n");
  fs::permissions(script, fs::perms::owner_all);
  const auto r = vyre({"reduce", "k.vyre", "--test", "./is_shift.sh"});
  expect_exit(r, 0);
  EXPECT_LT(r.out.size(), 200u) << r.out;
  EXPECT_FALSE(fs::exists(path("left_over")));
}

TEST_F(ReduceCommandLine, writes_a_file_and_json) {
  file("k.vyre", sums);
  const Words words = {"reduce", "k.vyre", "--test", "grep -q xor"};
  const std::string text = vyre(words).out;
  Words more = words;
  more.insert(more.end(), {"-o", "small.vyre"});
  const auto into = vyre(more);
  expect_exit(into, 0);
  EXPECT_EQ(into.out, "");
  EXPECT_EQ(contents("small.vyre"), text);
  more.emplace_back("--json");
  const Json j = Json::parse(vyre(more).out);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["text"], text);
  EXPECT_EQ(j["stopped"], false);
  EXPECT_LT(j["ops"], j["ops_before"]);
  EXPECT_GT(j["transforms"].size(), 20u);
}

TEST_F(ReduceCommandLine, reads_standard_input) {
  const auto r = vyre({"reduce", "-", "--test", "grep -q xor"}, sums);
  expect_exit(r, 0);
  EXPECT_LT(r.out.size(), 200u) << r.out;
}

TEST_F(ReduceCommandLine, a_test_that_the_program_does_not_pass) {
  file("k.vyre", sums);
  auto r = vyre({"reduce", "k.vyre", "--test", "grep -q no_such_text"});
  expect_exit(r, 2);
  expect_code(r, "V0628");
  r = vyre({"reduce", "k.vyre", "--test", "echo the reason >&2; exit 7;"});
  expect_code(r, "V0628");
  EXPECT_NE(r.err.find("exits with 7"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("it said: the reason"), std::string::npos) << r.err;
}

TEST_F(ReduceCommandLine, gives_the_best_so_far_when_the_time_is_over) {
  file("k.vyre", sums);
  // The second run of the command would take a minute.
  const std::string test =
      "[ -e " + path("begun") + " ] && exec sleep 60; touch " + path("begun") + "; true";
  const auto r = vyre({"reduce", "k.vyre", "--test", test, "--time-limit", "1"});
  expect_exit(r, 0);
  EXPECT_NE(r.err.find("; the time is over"), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("barrier workgroup"), std::string::npos) << r.out;
}

TEST_F(ReduceCommandLine, gives_the_best_so_far_when_it_is_stopped) {
  file("k.vyre", sums);
  for (const char* signal : {"INT", "TERM"}) {
    fs::remove(path("begun"));
    const std::string test =
        "[ -e " + path("begun") + " ] && exec sleep 60; touch " + path("begun") + "; true";
    const std::string script = std::string(VYRE_BIN_DIR) + "/vyre reduce k.vyre --test '" + test +
                               "' > out 2> err & p=$!\nuntil [ -e begun ]; do sleep 0.01; done\n" +
                               "kill -" + signal + " $p\nwait $p; exit $?\n";
    ProcessOptions options;
    options.working_folder = folder_.string();
    options.timeout = std::chrono::seconds(50);
    expect_exit(run_process({"bash", "-c", script}, options), 0);
    EXPECT_NE(contents("out").find("barrier workgroup"), std::string::npos) << contents("out");
    EXPECT_NE(contents("err").find("; stopped"), std::string::npos) << contents("err");
  }
}

// ---- Two configurations.

TEST_F(ReduceCommandLine, a_mismatch_becomes_a_text_test) {
  const std::string program = file("k.vyre", sums);
  const opt::RegisterPassForTest registered(wrong);
  const Words words = {program, "--mismatch", "interp,opt:subtract_instead", "--in", "x=7,8,9",
                       "--set", "n=7"};
  const Ended e = reduce_here(words);
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.out.find("// test: run\n// V0661 opt:subtract_instead: `y[0]`: expected "), 0u)
      << e.out;
  EXPECT_NE(e.out.find("add"), std::string::npos) << e.out;
  EXPECT_EQ(e.out.find("barrier"), std::string::npos) << e.out;
  const Json j = Json::parse([&] {
    Words json = words;
    json.emplace_back("--json");
    return reduce_here(json).out;
  }());
  EXPECT_EQ(j["text"], e.out);
  EXPECT_EQ(j["kind"], "bytes");
  EXPECT_LE(j["ops"], 8);
  // The interpreter gives what the file says.
  const auto r = text_tests(file("small.vyre", e.out));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

TEST_F(ReduceCommandLine, one_name_is_compared_with_the_interpreter_and_a_group_is_searched) {
  const std::string program = file("k.vyre", sums);
  const opt::RegisterPassForTest registered(wrong);
  for (const char* names : {"opt:subtract_instead", "interp,opt", "opt,interp"}) {
    const Ended e = reduce_here({program, "--mismatch", names, "--in", "x=7,8,9", "--set", "n=7"});
    EXPECT_EQ(e.code, 0) << names << "\n" << e.err;
    EXPECT_NE(e.out.find("add"), std::string::npos) << e.out;
  }
}

TEST_F(ReduceCommandLine, a_mismatch_of_a_graph_comes_to_one_kernel) {
  const std::string program =
      file("g.vyre", std::string(sums) +
                         "kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) "
                         "{\n  y[global_id.x] = x[global_id.x] * 2\n}\n"
                         "graph g(x: in u32[], y: out u32[len(x)]) {\n  buffer t: u32[len(x)]\n"
                         "  repeat 2 { call twice(x, t) }\n  call sums(3, t, y)\n}\n");
  const opt::RegisterPassForTest registered(wrong);
  const Ended e =
      reduce_here({program + ":g", "--mismatch", "opt:subtract_instead", "--in", "x=7,8,9"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.out.find("graph"), std::string::npos) << e.out;
  EXPECT_EQ(e.out.find("twice"), std::string::npos) << e.out;
}

TEST_F(ReduceCommandLine, configurations_that_agree) {
  file("k.vyre", sums);
  const auto r =
      vyre({"reduce", "k.vyre", "--mismatch", "interp,text", "--in", "x=1", "--set", "n=1"});
  expect_exit(r, 2);
  expect_code(r, "V0626");
}

TEST_F(ReduceCommandLine, a_race_is_not_a_mismatch) {
  file("last.vyre", "kernel last(y: out u32[1]) workgroup(64) grid(64) { y[0] = global_id.x }\n");
  const auto r = vyre({"reduce", "last.vyre", "--mismatch", "interp,interp:reverse:32"});
  expect_exit(r, 2);
  expect_code(r, "V0627");
  EXPECT_NE(r.err.find("V0551"), std::string::npos) << r.err;
}

TEST_F(ReduceCommandLine, mistakes_in_the_words) {
  file("k.vyre", sums);
  file("broken.vyre", "kernel k(y: out u32[4]) { y[0] = }\n");
  file("illegal.vyre",
       "kernel k(y: out u32[4]) workgroup(4) grid(4) { if lane_id > 1 { barrier workgroup } }\n");
  const std::pair<Words, std::string> mistakes[] = {
      {{"k.vyre"}, "V0606"},
      {{"k.vyre", "--test", "true", "--mismatch", "cpu"}, "V0606"},
      {{"k.vyre", "--test", "true", "--in", "x=1"}, "V0606"},
      {{"k.vyre:sums", "--test", "true"}, "V0606"},
      {{"k.vyre", "--test", "true", "--time-limit", "soon"}, "V0607"},
      {{"k.vyre", "--mismatch", "a,b,c", "--in", "x=1", "--set", "n=1"}, "V0607"},
      {{"k.vyre", "--mismatch", "interp,cpu9", "--in", "x=1", "--set", "n=1"}, "V0651"},
      {{"k.vyre", "--mismatch", "text"}, "V0451"},
      {{"k.vyre:nothing", "--mismatch", "text"}, "V0179"},
      {{"missing.vyre", "--test", "true"}, "V0178"},
      {{"broken.vyre", "--test", "true"}, "V0109"},
      {{"illegal.vyre", "--mismatch", "text"}, "V0301"},
      {{"--test", "true"}, "V0604"},
  };
  for (const auto& [words, code] : mistakes) {
    Words all = {"reduce"};
    all.insert(all.end(), words.begin(), words.end());
    const auto r = vyre(all);
    EXPECT_EQ(r.exit_code, 2) << code << "\n" << r.err;
    expect_code(r, code);
  }
  const auto r = vyre({"reduce", "k.vyre", "--test", "true", "-o", "no/such/f"});
  expect_exit(r, 3);
  expect_code(r, "V0641");
}

// ---- `vyre fuzz`.

/// Wrong for every program that writes something.
lab::Subject wrong_subject() {
  return {"wrong", [](const lab::Generated& g) -> Result<lab::Outputs> {
            auto out = reference(g);
            if (out)
              for (auto& bytes : out->buffers)
                for (std::byte& b : bytes)
                  if (b != std::byte{0}) b ^= std::byte{1};
            return out;
          }};
}

TEST_F(ReduceCommandLine, fuzz_reduces_each_mismatch_to_a_text_test) {
  lab::FuzzOptions options;
  options.seed = 3;
  options.count = 3;
  options.subjects = {"text"};
  options.more = {wrong_subject()};
  lab::Subject again = wrong_subject();
  again.name = "wrong:again";
  options.more.push_back(again);
  options.reduce_seconds = 600;
  options.reduced = path("reduced");
  const auto summary = lab::fuzz(options);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->findings.size(), 6u);
  EXPECT_TRUE(summary->file_errors.empty());
  const lab::Finding& first = summary->findings[0];
  EXPECT_EQ(first.reduced, path("reduced/reduced-seed-3.vyre"));
  EXPECT_LE(first.reduced_ops, 5u) << contents("reduced/reduced-seed-3.vyre");
  EXPECT_NE(first.what.notes.back().message.find("reduced to "), std::string::npos);
  // One program shows both.
  EXPECT_EQ(summary->findings[1].reduced, first.reduced);
  const auto r = text_tests(path("reduced"));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("3 passed"), std::string::npos) << r.out;
}

TEST_F(ReduceCommandLine, fuzz_reports_a_reduced_program_that_it_cannot_write) {
  file("taken", "");
  lab::FuzzOptions options;
  options.seed = 3;
  options.count = 1;
  options.subjects = {"text"};
  options.more = {wrong_subject()};
  options.reduce_seconds = 600;
  options.reduced = path("taken/inside");
  const auto summary = lab::fuzz(options);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->file_errors.size(), 1u);
  EXPECT_EQ(summary->file_errors[0].code, Code::CannotWrite);
}

TEST_F(ReduceCommandLine, flags_of_fuzz) {
  expect_exit(vyre({"fuzz", "--seed", "3", "--count", "1", "--backends", "text", "--no-reduce"}),
              0);
  const auto r = vyre({"fuzz", "--count", "1", "--no-reduce", "--reduced", "there"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
}

}  // namespace
}  // namespace vyre
