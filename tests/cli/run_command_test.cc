// `vyre run` as a process: inputs, outputs, and every mistake that has its own code.

#include <algorithm>

#include "support/json.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Run : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("saxpy.vyre", saxpy);
  }

  /// saxpy with good inputs and `more`.
  ProcessResult run_saxpy(const Words& more) const {
    Words words = {"run", "saxpy.vyre", "--set", "a=2", "--in", "x=1,2,3", "--in", "y=10,20,30"};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words);
  }

  /// A kernel file of one's own.
  ProcessResult run_text(const std::string& text, const Words& more) const {
    file("k.vyre", text);
    Words words = {"run", "k.vyre"};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words);
  }
};

TEST_F(Run, prints_a_buffer_on_one_line) {
  const auto r = run_saxpy({"--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 12 24 36\n");
  EXPECT_EQ(r.err, "");
}

TEST_F(Run, prints_in_the_order_of_the_options_and_only_so_many) {
  const auto r = run_saxpy({"--print", "y:2", "--print", "x", "--print", "a", "--print", "y:0"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 12 24\nx: 1 2 3\na: 2\ny:\n");
}

TEST_F(Run, shows_the_beginning_of_every_output_when_nothing_is_asked_for) {
  auto r = run_saxpy({});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: f32[3] 12 24 36\n");
  r = run_text(
      "kernel k(y: out u8[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] = u8(global_id.x)\n}\n",
      {"--len", "y=10"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: u8[10] 0 1 2 3 4 5 6 7 …\n");
}

TEST_F(Run, empty_buffers) {
  const auto r =
      vyre({"run", "saxpy.vyre", "--set", "a=2", "--in", "x=", "--in", "y=", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y:\n");
}

TEST_F(Run, floats_are_printed_in_the_shortest_form_that_reads_back) {
  const auto r = vyre({"run", "saxpy.vyre", "--set", "a=0", "--in", "x=1,1,1,1,1", "--in",
                       "y=0.1,-0.0,inf,nan,1e-45", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 0.1 0 inf nan 1e-45\n");
}

TEST_F(Run, program_from_standard_input) {
  auto r = vyre({"run", "-", "--set", "a=2", "--in", "x=1", "--in", "y=1", "--print", "y"}, saxpy);
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 3\n");
  r = vyre({"run", "-:second"}, two_kernels);
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: u32[4] 7 7 7 7\n");
}

TEST_F(Run, raw_files_in_and_out) {
  file("x.bin", std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // 1.0f, 2.0f
  auto r = vyre({"run", "saxpy.vyre", "--set", "a=1", "--in", "x=@x.bin", "--in", "y=@x.bin",
                 "--out", "y=@y.bin"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(contents("y.bin"), std::string("\0\0\0\x40\0\0\x80\x40", 8));  // 2.0f, 4.0f
  r = vyre({"run", "saxpy.vyre", "--set", "a=1", "--in", "x=@-", "--in", "y=0,0", "--print", "y"},
           contents("x.bin"));
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 1 2\n");
}

TEST_F(Run, random_inputs_are_the_same_every_time) {
  const Words words = {"run",          "saxpy.vyre", "--set",          "a=1",     "--in",
                       "x=random:100", "--in",       "y=random:100:7", "--print", "y"};
  const auto first = vyre(words);
  expect_exit(first, 0);
  EXPECT_EQ(vyre(words).out, first.out);
}

TEST_F(Run, picks_the_named_kernel_and_asks_when_there_are_several) {
  file("two.vyre", two_kernels);
  auto r = vyre({"run", "two.vyre:first", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 0 1 2 3\n");
  r = vyre({"run", "two.vyre"});
  expect_exit(r, 2);
  expect_code(r, "V0180");
  EXPECT_NE(r.err.find("first, second"), std::string::npos) << r.err;
}

TEST_F(Run, unknown_kernel_suggests_the_nearest) {
  const auto r = vyre({"run", "saxpy.vyre:saxpi"});
  expect_exit(r, 2);
  expect_code(r, "V0179");
  EXPECT_NE(r.err.find("saxpy.vyre:saxpy"), std::string::npos) << r.err;
}

TEST_F(Run, a_file_may_have_a_colon_in_its_name) {
  file("a:b", saxpy);
  const auto r = vyre({"run", "a:b", "--set", "a=1", "--in", "x=1", "--in", "y=1", "--print", "y"});
  expect_exit(r, 0);
}

TEST_F(Run, a_graph_is_preferred_to_its_kernels) {
  const std::string text =
      std::string(two_kernels) + "graph g(y: out u32[4]) {\n  call second(y)\n}\n";
  auto r = run_text(text, {"--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 7 7 7 7\n");
  r = run_text(text, {"--grid", "4"});
  expect_exit(r, 2);
  expect_code(r, "V0618");
}

TEST_F(Run, json_has_outputs_and_time) {
  const auto r = run_saxpy({"--json", "--print", "y:2", "--repeat", "5", "--backend", "interp"});
  expect_exit(r, 0);
  EXPECT_EQ(r.err, "");
  const Json json = parse_json<Json>(r.out);
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["backend"], "interp");
  EXPECT_EQ(json["device"]["index"], 0);
  EXPECT_EQ(json["subgroup_size"], 32);
  EXPECT_EQ(json["time"]["runs"], 5);
  EXPECT_GT(json["time"]["min_seconds"], 0.0);
  EXPECT_LE(json["time"]["min_seconds"], json["time"]["median_seconds"]);
  EXPECT_EQ(json["outputs"][0]["name"], "y");
  EXPECT_EQ(json["outputs"][0]["count"], 3);
  EXPECT_EQ(json["outputs"][0]["values"], Json({12.0, 24.0}));
}

TEST_F(Run, repeat_starts_from_the_inputs_and_reports_the_time) {
  const auto r = run_saxpy({"--repeat", "3", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 12 24 36\n");
  EXPECT_TRUE(r.err.starts_with("device time: min ")) << r.err;
  EXPECT_NE(r.err.find("median"), std::string::npos) << r.err;
  EXPECT_TRUE(r.err.ends_with(", 3 runs\n")) << r.err;
}

TEST_F(Run, a_graph_repeats_from_its_inputs_too) {
  const std::string text =
      "kernel add(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 1\n}\n"
      "graph g(y: inout u32[]) {\n  repeat 3 {\n    call add(y)\n  }\n}\n";
  const auto r = run_text(text, {"--in", "y=1,2", "--repeat", "4", "--print", "y", "--verify"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 4 5\n");
  EXPECT_NE(r.err.find("4 runs"), std::string::npos) << r.err;
}

TEST_F(Run, is_quiet_about_the_device_unless_asked) {
  auto r = run_saxpy({"--print", "y", "--backend", "interp"});
  EXPECT_EQ(r.err, "");
  r = run_saxpy({"--print", "y", "--backend", "interp:0", "--verbose"});
  expect_exit(r, 0);
  EXPECT_TRUE(r.err.starts_with("backend: interp:0, ")) << r.err;
  EXPECT_NE(r.err.find("\nstages: open "), std::string::npos) << r.err;
  r = run_saxpy({"--json"});
  EXPECT_NE(parse_json<Json>(r.out)["chosen_because"], "");
  EXPECT_EQ(r.err.empty(), parse_json<Json>(r.out)["backend"] != "interp") << r.err;
  r = run_saxpy({"--json", "--backend", "interp"});
  EXPECT_EQ(parse_json<Json>(r.out)["chosen_because"], "");
}

TEST_F(Run, says_why_auto_selected_the_interpreter) {
  const char* const libraries[] = {"VYRE_CUDA_LIBRARY", "VYRE_VULKAN_LIBRARY", "VYRE_CPU_LIBRARY"};
  for (const char* name : libraries) ::setenv(name, "/nowhere/library.so", 1);
  const auto r = run_saxpy({"--json"});
  const auto named = run_saxpy({"--print", "y", "--backend", "interp"});
  const auto ordered = run_saxpy({"--print", "y", "--schedule", "reverse"});
  for (const char* name : libraries) ::unsetenv(name);
  expect_exit(r, 0);
  EXPECT_TRUE(r.err.starts_with("note: `auto` selected the interpreter: ")) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_NE(r.err.find("cpu is not here (its library cannot be loaded"), std::string::npos)
      << r.err;
  const std::string why = parse_json<Json>(r.out)["chosen_because"];
  EXPECT_NE(r.err.find(why), std::string::npos) << why;
  EXPECT_EQ(named.err, "");
  EXPECT_EQ(ordered.err, "") << "`--schedule` asks for the interpreter";
}

TEST_F(Run, schedule_makes_auto_the_interpreter) {
  const std::string racy =
      "kernel k(y: out u32[1]) workgroup(64) grid(64) {\n  y[0] = global_id.x\n}\n";
  auto r = run_text(racy, {"--schedule", "reverse", "--json"});
  expect_exit(r, 0);
  const Json json = parse_json<Json>(r.out);
  EXPECT_EQ(json["backend"], "interp");
  EXPECT_EQ(json["outputs"][0]["values"], Json::array({0}));
  EXPECT_NE(json["chosen_because"].get<std::string>().find("--schedule"), std::string::npos);
  r = run_text(racy, {"--schedule", "order", "--print", "y"});
  EXPECT_EQ(r.out, "y: 63\n");
}

TEST_F(Run, a_device_index_that_is_not_there_is_a_failure_of_the_system) {
  const auto r = run_saxpy({"--backend", "interp:7"});
  expect_exit(r, 3);
  expect_code(r, "V0703");
}

// ---- mistakes
// ------------------------------------------------------------------------------------

TEST_F(Run, all_mistakes_of_a_launch_at_once) {
  const auto r = vyre({"run", "saxpy.vyre", "--in", "x=1,zwei", "--in", "z=1", "--print", "w",
                       "--backend", "gpu", "--repeat", "0"});
  expect_exit(r, 2);
  for (const char* code : {"V0611", "V0609", "V0451", "V0701", "V0607"}) expect_code(r, code);
  // x, z, w; a and y are missing; backend; repeat. x is wrong, not missing.
  EXPECT_TRUE(r.err.ends_with("7 errors\n")) << r.err;
}

TEST_F(Run, wrong_lengths) {
  const std::string text =
      "kernel k(x: in u32[], y: in u32[len(x)], z: out u32[]) workgroup(4) grid(len(x)) {\n  z[0] "
      "= x[0] + y[0]\n}\n";
  auto r = run_text(text, {"--in", "x=1,2", "--in", "y=1", "--len", "z=1"});
  expect_exit(r, 2);
  expect_code(r, "V0455");
  r = run_text(text, {"--in", "x=1,2", "--in", "y=1,2"});
  expect_exit(r, 2);
  expect_code(r, "V0453");
  file("odd.bin", "12345");
  r = run_text(text, {"--in", "x=@odd.bin", "--in", "y=1,2", "--len", "z=1"});
  expect_exit(r, 2);
  expect_code(r, "V0454");
  r = run_text(text, {"--in", "x=1,2", "--in", "y=1,2", "--len", "z=lots"});
  expect_exit(r, 2);
  expect_code(r, "V0607");
}

struct Mistake {
  const char* code;
  Words words;
};

TEST_F(Run, each_mistake_has_its_code) {
  const Mistake mistakes[] = {
      {"V0607", {"--schedule", "sideways"}},
      {"V0607", {"--time-limit", "soon"}},
      {"V0607", {"--memory-limit", "1Q"}},
      {"V0607", {"--grid", "1,2,3,4"}},
      {"V0607", {"--out", "y=plain.bin"}},
      {"V0607", {"--print", "y:all"}},
      {"V0608", {"--in", "x"}},
      {"V0609", {"--in", "z=1"}},
      {"V0610", {"--in", "x=1,2,3"}},
      {"V0610", {"--out", "y=@a", "--out", "y=@b"}},
      {"V0615", {"--out", "x=@a"}},
      {"V0701", {"--backend", "gpu"}},
      {"V0701", {"--backend", "interp:x"}},
      {"V0463", {"--subgroup-size", "48"}},
  };
  for (const Mistake& m : mistakes) {
    const auto r = run_saxpy(m.words);
    expect_exit(r, 2);
    expect_code(r, m.code);
  }
}

TEST_F(Run, a_backend_that_is_not_here_is_a_failure_of_the_system) {
  // The result must not depend on the drivers of the machine.
  ::setenv("VYRE_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  ::setenv("VYRE_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1", 1);
  for (const char* name : {"cuda", "vulkan"}) {
    const auto r = run_saxpy({"--backend", name});
    expect_exit(r, 3);
    expect_code(r, "V0702");
    EXPECT_NE(r.err.find("`interp` is here"), std::string::npos) << r.err;
  }
}

TEST_F(Run, each_mistake_of_an_input_has_its_code) {
  const Mistake mistakes[] = {
      {"V0611", {"--set", "a=two"}},
      {"V0611", {"--set", "a=1,2"}},
      {"V0611", {"--set", "a="}},
      {"V0611", {"--in", "x=1,,2"}},
      {"V0612", {"--in", "x=random:many"}},
      {"V0613", {"--in", "x=@missing.bin"}},
      {"V0614", {"--in", "a=2"}},
      {"V0614", {"--set", "x=2"}},
      {"V0457", {"--in", "x=random:1125899906842624"}},
      {"V0451", {"--in", "x=1"}},
  };
  for (const Mistake& m : mistakes) {
    Words words = {"run", "saxpy.vyre"};
    words.insert(words.end(), m.words.begin(), m.words.end());
    const auto r = vyre(words);
    expect_exit(r, 2);
    expect_code(r, m.code);
  }
}

TEST_F(Run, files_of_other_formats_are_not_read_as_raw_bytes) {
  const std::string text =
      "kernel k(x: in u8[], y: out u8[len(x)]) workgroup(1) grid(len(x)) {\n"
      "  y[global_id.x] = x[global_id.x]\n}\n";
  for (const char* name : {"a.npy", "a.npz", "a.csv", "a.png", "A.CSV", "a.b.Npy", "x/a.tsv"}) {
    const auto r = run_text(text, {"--in", std::string("x=@") + name});
    expect_exit(r, 2);
    expect_code(r, "V0625");
    EXPECT_NE(r.err.find(std::string("`--in x=raw:@") + name + "`"), std::string::npos) << r.err;
  }
  file("a.csv", "1,2");
  auto r = run_text(text, {"--in", "x=raw:@a.csv", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 49 44 50\n");
  file("csv", "1,2");
  EXPECT_EQ(run_text(text, {"--in", "x=@csv", "--print", "y"}).out, r.out);
  expect_code(run_text(text, {"--in", "x=raw:@missing.csv"}), "V0613");
  expect_code(run_text(text, {"--in", "x=raw:1,2"}), "V0611");
  expect_code(vyre({"run", "-", "--in", "x=raw:@-"}, text), "V0622");
  r = vyre({"run", "k.vyre", "--in", "x=raw:@-", "--print", "y"}, "1,2");
  EXPECT_EQ(r.out, "y: 49 44 50\n");
}

TEST_F(Run, standard_input_for_program_and_buffer) {
  const auto r = vyre({"run", "-", "--in", "x=@-"}, saxpy);
  expect_exit(r, 2);
  expect_code(r, "V0622");
}

TEST_F(Run, scratch_memory_cannot_be_printed) {
  const auto r = run_text(
      "kernel k(t: scratch u32[4], y: out u32[4]) workgroup(4) grid(4) {\n  t[0] = 1\n  y[0] = "
      "t[0]\n}\n",
      {"--print", "t"});
  expect_exit(r, 2);
  expect_code(r, "V0615");
}

// ---- programs that fail
// --------------------------------------------------------------------------

TEST_F(Run, a_trap_exits_1_and_writes_nothing) {
  file("y.bin", "before");
  const auto r = run_text(
      "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n  y[0] = 1\n  assert(global_id.x < 2, "
      "9)\n}\n",
      {"--out", "y=@y.bin", "--print", "y"});
  expect_exit(r, 1);
  expect_code(r, "V0501");
  EXPECT_NE(r.err.find("k.vyre:3"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(contents("y.bin"), "before");
}

TEST_F(Run, bad_input_leaves_outputs_alone) {
  file("y.bin", "before");
  const auto r = vyre({"run", "saxpy.vyre", "--out", "y=@y.bin"});
  expect_exit(r, 2);
  EXPECT_EQ(contents("y.bin"), "before");
}

TEST_F(Run, an_output_that_cannot_be_written_exits_3) {
  const auto r = run_saxpy({"--out", "y=@/no/such/folder/y.bin"});
  expect_exit(r, 3);
  expect_code(r, "V0641");
}

TEST_F(Run, limits_of_time_memory_and_output) {
  auto r = run_text("kernel k(x: inout u32[]) workgroup(1) grid(1) {\n  while x[0] == 0 { }\n}\n",
                    {"--in", "x=0", "--time-limit", "0.2"});
  expect_exit(r, 1);
  expect_code(r, "V0502");
  r = run_saxpy({"--memory-limit", "8"});
  expect_exit(r, 1);
  expect_code(r, "V0503");
  r = vyre({"run", "saxpy.vyre", "--set", "a=1", "--in", "x=random:1000", "--in", "y=1",
            "--memory-limit", "1K"});
  expect_exit(r, 1);
  expect_code(r, "V0503");
  r = run_saxpy({"--output-limit", "8"});
  expect_exit(r, 1);
  expect_code(r, "V0504");
  const std::string graph =
      std::string(two_kernels) + "graph g(y: out u32[4]) {\n  call second(y)\n}\n";
  r = run_text(graph, {"--memory-limit", "8"});
  expect_exit(r, 1);
  expect_code(r, "V0503");
  r = run_text(graph, {"--output-limit", "8"});
  expect_exit(r, 1);
  expect_code(r, "V0504");
}

TEST_F(Run, private_arrays_count_against_the_memory_limit) {
  const std::string text =
      "kernel k(y: out u32[16]) workgroup(16) grid(16) {\n  var t: u32[70000000]\n"
      "  t[global_id.x] = 1\n  y[global_id.x] = t[global_id.x + 1]\n}\n"
      "graph g(y: out u32[16]) { call k(y) }\n";
  file("t.vyre", text);
  for (const std::string name : {"k", "g"}) {
    for (const std::string backend : {"interp", "cpu"})
      for (const std::string extra : {"--verify", "--verbose"}) {
        const auto r =
            vyre({"run", "t.vyre:" + name, "--backend", backend, "--memory-limit", "64M", extra});
        expect_exit(r, 1);
        expect_code(r, "V0503");
      }
    const auto s = vyre({"check", "t.vyre:" + name, "--sanitize", "--memory-limit", "64M"});
    expect_exit(s, 1);
    expect_code(s, "V0503");
  }
  const auto p = vyre({"plan", "t.vyre:g", "--memory-limit", "64M"});
  expect_exit(p, 1);
  expect_code(p, "V0503");
}

TEST_F(Run, bisect_does_not_blame_a_backend_for_a_short_time_limit) {
  // A GiB, which the CPU backend zeroes; on the interpreter it costs nothing until it is written.
  file("t.vyre",
       "kernel k(y: out u32[16]) workgroup(16) grid(16) {\n  var t: u32[16777216]\n"
       "  t[global_id.x] = 1\n  y[global_id.x] = t[global_id.x + 1]\n}\n");
  const auto r = vyre({"bisect", "t.vyre:k", "--backend", "cpu", "--time-limit", "0.01"});
  expect_exit(r, 1);
  expect_code(r, "V0502");
  EXPECT_EQ(r.err.find("V0631"), r.err.npos) << r.err;
}

TEST_F(Run, the_time_limit_ends_the_zeroing_of_private_arrays) {
  // 64 workgroups of 256 MiB each; the deadline is met long before.
  const std::string text =
      "kernel k(y: out u32[1]) workgroup(16) grid(1024) {\n  var t: u32[4194304]\n"
      "  y[t[global_id.x & 15]] = t[7]\n}\n";
  for (const std::string backend : {"interp", "cpu"}) {
    const auto r = run_text(text, {"--backend", backend, "--time-limit", "0.1"});
    expect_exit(r, 1);
    expect_code(r, "V0502");
  }
}

TEST_F(Run, absurd_lengths_are_errors_and_not_crashes) {
  const std::string text = "kernel k(y: out u8[]) workgroup(4) grid(1) {\n  y[0] = 1\n}\n";
  auto r = run_text(text, {"--len", "y=1125899906842624"});  // 2^50
  expect_exit(r, 2);
  expect_code(r, "V0457");
  r = run_text(text, {"--len", "y=140737488355328"});  // 2^47: allowed, but more than any memory
  expect_exit(r, 3);
  expect_code(r, "V0718");
}

TEST_F(Run, verify_finds_a_race) {
  const std::string racy =
      "kernel k(y: out u32[4]) workgroup(64) grid(64) {\n  y[2] = global_id.x\n}\n";
  auto r = run_text(racy, {"--backend", "interp", "--verify"});
  expect_exit(r, 1);
  expect_code(r, "V0631");
  EXPECT_NE(r.err.find("`y[2]` is 63"), std::string::npos) << r.err;
  r = run_saxpy({"--verify", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 12 24 36\n");
}

TEST_F(Run, exact_refuses_float_atomics) {
  const std::string text =
      "kernel k(y: out f32[1]) workgroup(4) grid(4) {\n  atomic_add(y[0], 1.0)\n}\n";
  expect_exit(run_text(text, {}), 0);
  const auto r = run_text(text, {"--exact"});
  expect_exit(r, 2);
}

TEST_F(Run, limits_of_0_bytes_allow_nothing) {
  const std::string bytes = "kernel k(y: out u8[]) workgroup(1) grid(len(y)) { y[0] = 1 }\n";
  auto r = run_text(bytes, {"--len", "y=1", "--memory-limit", "0"});
  expect_exit(r, 1);
  expect_code(r, "V0503");
  r = run_text(bytes, {"--len", "y=1", "--output-limit", "0"});
  expect_exit(r, 1);
  expect_code(r, "V0504");
  expect_exit(run_text(bytes, {"--len", "y=0", "--memory-limit", "0", "--output-limit", "0"}), 0);
  r = run_saxpy({"--memory-limit", "0"});
  expect_exit(r, 1);
  expect_code(r, "V0503");
  const std::string graph = bytes + "graph g(y: out u8[1]) { call k(y) }\n";
  expect_code(run_text(graph, {"--memory-limit", "0"}), "V0503");
  expect_code(run_text(graph, {"--output-limit", "0"}), "V0504");
}

TEST_F(Run, limits_of_0_bytes_hold_in_every_command) {
  file("k.vyre",
       "kernel k(y: out u8[1]) workgroup(1) grid(1) { y[0] = 1 }\n"
       "graph g(y: out u8[1]) { call k(y) }\n");
  const Words commands[] = {{"check", "k.vyre:k", "--sanitize"},
                            {"check", "k.vyre:g", "--sanitize"},
                            {"bisect", "k.vyre:k"},
                            {"plan", "k.vyre:g"},
                            {"run", "k.vyre:k", "--verify"}};
  for (Words words : commands) {
    expect_exit(vyre(words), 0);
    words.insert(words.end(), {"--memory-limit", "0"});
    const auto r = vyre(words);
    expect_exit(r, 1);
    expect_code(r, "V0503");
  }
}

TEST_F(Run, graph_loops_that_change_nothing_end) {
  const std::string text =
      "kernel k(x: in u32[], y: inout u32[1]) workgroup(4) grid(len(x)) { y[0] += 1 }\n"
      "graph g(x: in u32[], y: inout u32[1]) {\n"
      "  repeat 1000000000000 { call k(x, y)\n    repeat 0 { call k(x, y) } }\n}\n";
  const Words inputs = {"--in", "x=", "--in", "y=7"};
  for (const char* backend : {"interp", "cpu"}) {
    Words words = inputs;
    words.insert(words.end(), {"--backend", backend, "--verify", "--print", "y"});
    const auto r = run_text(text, words);
    expect_exit(r, 0);
    EXPECT_EQ(r.out, "y: 7\n");
  }
  Words words = {"check", "k.vyre:g", "--sanitize"};
  words.insert(words.end(), inputs.begin(), inputs.end());
  expect_exit(vyre(words), 0);
}

TEST_F(Run, malformed_numbers_are_refused) {
  for (const char* value : {"0x1_", "1_", "1__0", "0x_1", "1_.5", "1._5"}) {
    const auto r = run_saxpy({"--in", std::string("y=") + value});
    expect_exit(r, 2);
    const auto integer =
        run_text("kernel k(x: in u32[], y: out u32[1]) workgroup(1) grid(1) { y[0] = x[0] }\n",
                 {"--in", std::string("x=") + value});
    expect_exit(integer, 2);
    expect_code(integer, "V0611");
  }
  const auto r =
      run_text("kernel k(x: in u32[], y: out u32[1]) workgroup(1) grid(1) { y[0] = x[0] }\n",
               {"--in", "x=0xf_f", "--print", "y"});
  EXPECT_EQ(r.out, "y: 255\n");
  expect_code(
      run_text("kernel k(y: out u8[]) workgroup(1) grid(1) { y[0] = 1 }\n", {"--len", "y=1_"}),
      "V0607");
}

// Without, the next file that is opened has the number of the stream, and gets what is printed.
TEST_F(Run, closed_standard_streams_do_not_leak_into_files) {
  ProcessOptions options;
  options.working_folder = folder_.string();
  const std::string command = std::string(VYRE_BIN_DIR) +
                              "/vyre run saxpy.vyre --set a=2 --in x=1,2,3 --in y=10,20,30"
                              " --print y --out y=@y.bin --report r.json ";
  for (const char* closed : {">&-", "2>&-", "<&-", "<&- >&-", "<&- >&- 2>&-"}) {
    const auto r = run_process({"bash", "-c", command + closed}, options);
    expect_exit(r, 0);
    const float expected[] = {12, 24, 36};
    EXPECT_EQ(contents("y.bin"),
              std::string(reinterpret_cast<const char*>(expected), sizeof expected))
        << closed;
    EXPECT_TRUE(Json::accept(contents("r.json"))) << closed;
  }
}

TEST_F(Run, json_prints_eight_values_or_as_many_as_it_is_told) {
  file("id.vyre",
       "kernel id(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
       "  y[global_id.x] = x[global_id.x]\n}\n");
  const auto values = [&](const std::string& flag) {
    const auto r = vyre({"run", "id.vyre", "--backend", "interp", "--in", "x=random:1e2", flag});
    expect_exit(r, 0);
    return nlohmann::json::parse(r.out)["outputs"][0]["values"].size();
  };
  EXPECT_EQ(values("--json"), 8u);
  EXPECT_EQ(values("--json=20"), 20u);
  EXPECT_EQ(values("--json=1000"), 100u);
  const auto bad = vyre({"run", "id.vyre", "--in", "x=1", "--json=all"});
  expect_exit(bad, 2);
  EXPECT_NE(bad.out.find("V0607"), std::string::npos) << bad.out;
}

TEST_F(Run, unknown_parameters_are_suggested_by_what_the_flag_takes) {
  file("s.vyre", saxpy);
  const auto r = vyre({"run", "s.vyre", "--set", "x1=1", "--in", "aa=1"});
  expect_exit(r, 2);
  expect_code(r, "V0609");
  EXPECT_NE(r.err.find("it has: a: f32, x: in f32[], y: inout f32[]"), r.err.npos) << r.err;
  EXPECT_NE(r.err.find("name one of its parameters: `a`\n"), r.err.npos) << r.err;
  EXPECT_NE(r.err.find("name one of its parameters: `x`, `y`\n"), r.err.npos) << r.err;
}

TEST_F(Run, large_numbers_of_bytes_have_a_unit) {
  file("id.vyre",
       "kernel id(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
       "  y[global_id.x] = x[global_id.x]\n}\n");
  const auto r = vyre({"run", "id.vyre", "--backend", "interp", "--in", "x=random:1000000",
                       "--memory-limit", "6MiB"});
  expect_exit(r, 1);
  EXPECT_NE(r.err.find("8000000 bytes (7.629 MiB)"), r.err.npos) << r.err;
  const auto small = vyre({"run", "id.vyre", "--backend", "interp", "--in", "x=1", "--len", "y=2"});
  EXPECT_NE(small.err.find("`y` has 2 elements, but its length is `len(x)` = 1"), small.err.npos);
  EXPECT_NE(small.err.find("give 1 element,"), small.err.npos) << small.err;
}

}  // namespace
}  // namespace vyre
