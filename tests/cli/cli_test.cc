// The command line from outside: exit codes, streams, help.

#include "diagnostics/code_table.h"
#include "diagnostics/diagnostic.h"
#include "support/json.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;

TEST_F(CommandLine, alone_prints_help_and_exits_2) {
  const auto r = vyre({});
  expect_exit(r, 2);
  EXPECT_NE(r.out.find("EXAMPLE"), std::string::npos);
  expect_code(r, "V0601");
}

TEST_F(CommandLine, help_and_version_exit_0) {
  for (const char* word : {"--help", "-h"}) {
    const auto r = vyre({word});
    expect_exit(r, 0);
    for (const char* command : {"run", "check", "fmt", "explain", "devices"})
      EXPECT_NE(r.out.find(command), std::string::npos) << command;
  }
  const auto version = vyre({"--version"});
  expect_exit(version, 0);
  EXPECT_TRUE(version.out.starts_with("vyre ")) << version.out;
}

TEST_F(CommandLine, every_command_has_help_with_an_example) {
  for (const char* command : {"run", "check", "fmt", "explain", "devices"}) {
    const auto r = vyre({command, "--help"});
    expect_exit(r, 0);
    EXPECT_NE(r.out.find("EXAMPLE"), std::string::npos) << command;
    EXPECT_NE(r.out.find(std::string("vyre ") + command), std::string::npos) << command;
    EXPECT_EQ(r.err, "");
  }
}

TEST_F(CommandLine, unknown_command_suggests_the_nearest) {
  const auto r = vyre({"chekc", "a.vyre"});
  expect_exit(r, 2);
  expect_code(r, "V0602");
  EXPECT_NE(r.err.find("vyre check"), std::string::npos) << r.err;
}

TEST_F(CommandLine, unknown_options_are_all_named_with_suggestions) {
  const auto r = vyre({"run", "a.vyre", "--prnit", "y", "--verifi"});
  expect_exit(r, 2);
  expect_code(r, "V0603");
  EXPECT_NE(r.err.find("`--print`"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("`--verify`"), std::string::npos) << r.err;
  EXPECT_TRUE(r.err.ends_with("2 errors\n")) << r.err;
}

TEST_F(CommandLine, missing_file_argument) {
  const auto r = vyre({"check"});
  expect_exit(r, 2);
  expect_code(r, "V0604");
}

TEST_F(CommandLine, argument_too_many) {
  const auto r = vyre({"check", "a.vyre", "b.vyre"});
  expect_exit(r, 2);
  expect_code(r, "V0605");
}

TEST_F(CommandLine, option_without_its_value_or_given_twice) {
  auto r = vyre({"run", "a.vyre", "--grid"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
  r = vyre({"run", "a.vyre", "--grid", "1", "--grid", "2"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
}

TEST_F(CommandLine, mistakes_of_options_are_named_in_words_of_this_program) {
  const auto fix = [&](const std::vector<std::string>& words, const std::string& code) {
    const auto r = vyre(words);
    expect_exit(r, 2);
    expect_code(r, code);
    for (const char* foreign : {"required", "TEXT", "At Most", "Could not", "received"})
      EXPECT_EQ(r.err.find(foreign), std::string::npos) << r.err;
    const size_t at = r.err.find("fix: ");
    return at == r.err.npos ? r.err : r.err.substr(at + 5, r.err.find('\n', at) - at - 5);
  };
  EXPECT_EQ(fix({"run", "a.vyre", "--grid"}, "V0606"), "write `--grid N[,M[,K]]`");
  EXPECT_EQ(fix({"run", "a.vyre", "--grid", "1", "--grid", "2"}, "V0606"), "keep one of them");
  EXPECT_EQ(fix({"run"}, "V0604"), "write `vyre run FILE`, or see `vyre run --help`");
  EXPECT_EQ(fix({"emit", "a.vyre"}, "V0604"),
            "write `vyre emit --target llvm|asm|obj|ptx|spirv`, or see `vyre emit --help`");
}

TEST_F(CommandLine, passes_and_architectures_are_suggested) {
  file("s.vyre", saxpy);
  const auto fix = [&](const std::vector<std::string>& words, const std::string& code) {
    const auto r = vyre(words);
    expect_exit(r, 2);
    expect_code(r, code);
    const size_t at = r.err.find("fix: ");
    return at == r.err.npos ? r.err : r.err.substr(at + 5, r.err.find('\n', at) - at - 5);
  };
  EXPECT_EQ(fix({"opt", "s.vyre", "--passes", "simplfy"}, "V0801"), "write `simplify`");
  EXPECT_EQ(fix({"opt", "s.vyre", "--passes", "dce"}, "V0801"), "write `remove_dead_code`");
  EXPECT_EQ(fix({"opt", "s.vyre", "--passes", "hoist"}, "V0801"), "write `hoist_invariants`");
  EXPECT_EQ(fix({"opt", "s.vyre", "--passes", "zz"}, "V0801"), "use one of these names");
  EXPECT_EQ(fix({"emit", "s.vyre", "--target", "ptx", "--arch", "sm_81"}, "V0607"),
            "write `sm_80`");
  EXPECT_EQ(fix({"emit", "s.vyre", "--target", "asm", "--arch", "x86_64-v3"}, "V0607"),
            "write `x86-64-v3`");
}

TEST_F(CommandLine, emit_of_a_graph_names_its_kernels) {
  file("g.vyre",
       "kernel a(x: inout u32[4]) workgroup(1) grid(1) { x[0] = 1 }\n"
       "kernel other(x: inout u32[4]) workgroup(1) grid(1) { x[0] = 1 }\n"
       "kernel b(x: inout u32[4]) workgroup(1) grid(1) { x[0] = 2 }\n"
       "graph g(x: inout u32[4]) { call b(x); call a(x); call b(x) }\n");
  const auto r = vyre({"emit", "g.vyre:g", "--target", "ptx"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
  EXPECT_NE(r.err.find("it calls: b, a\n"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("`g.vyre:b`"), std::string::npos) << r.err;
}

TEST_F(CommandLine, wrong_flags_as_json) {
  const auto r = vyre({"run", "--json", "--wrong"});
  expect_exit(r, 2);
  EXPECT_EQ(r.err, "");
  const Json json = parse_json<Json>(r.out);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["diagnostics"][0]["code"], "V0603");
}

TEST_F(CommandLine, missing_file_is_bad_input) {
  for (const char* command : {"run", "check", "fmt"}) {
    const auto r = vyre({command, "missing.vyre"});
    expect_exit(r, 2);
    expect_code(r, "V0178");
  }
}

TEST_F(CommandLine, a_folder_is_no_program) {
  const auto r = vyre({"check", "."});
  expect_exit(r, 2);
  expect_code(r, "V0178");
}

TEST_F(CommandLine, hostile_files_are_bad_input) {
  for (const std::string& text :
       {std::string(), std::string("\xff\xfe\0x", 4), std::string(100'000, '('),
        std::string("VYRE") + std::string(100, '\1'), std::string("VYRE")}) {
    const auto r = vyre({"check", file("hostile.vyre", text)});
    expect_exit(r, 2);
    EXPECT_NE(r.err.find("error[V"), std::string::npos) << r.err;
  }
}

TEST_F(CommandLine, no_escape_sequences_in_a_pipe) {
  const auto r = vyre({"check", file("a.vyre", "kernel k(\n")});
  expect_exit(r, 2);
  EXPECT_EQ(r.err.find('\x1b'), std::string::npos) << r.err;
}

TEST_F(CommandLine, lost_standard_output_is_a_failure_of_the_system) {
  const auto r =
      run_process({"/bin/sh", "-c", std::string(VYRE_BIN_DIR) + "/vyre explain > /dev/full"});
  EXPECT_EQ(r.exit_code, 3) << r.err;
  expect_code(r, "V0641");
}

// ---- check
// ---------------------------------------------------------------------------------------

TEST_F(CommandLine, check_counts_what_it_checked) {
  const auto r = vyre({"check", file("a.vyre", two_kernels)});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "ok: 2 kernels\n");
  EXPECT_EQ(r.err, "");
}

TEST_F(CommandLine, check_reads_standard_input) {
  const auto r = vyre({"check", "-"}, saxpy);
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "ok: 1 kernel\n");
}

TEST_F(CommandLine, check_shows_errors_with_carets_and_their_count) {
  const auto r =
      vyre({"check",
            file("a.vyre",
                 "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n  y[0] = a\n  y[1] = b\n}\n")});
  expect_exit(r, 2);
  EXPECT_NE(r.err.find("a.vyre:2:"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("^"), std::string::npos) << r.err;
  EXPECT_TRUE(r.err.ends_with("2 errors\n")) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST_F(CommandLine, check_says_how_many_errors_are_not_shown) {
  std::string wrong = "kernel k(y: out u32[1]) workgroup(1) grid(1) {\n";
  for (int i = 0; i < 130; ++i) wrong += "  y[0] = 1.5\n";
  file("wrong.vyre", wrong + "}\n");
  const auto r = vyre({"check", "wrong.vyre"});
  expect_exit(r, 2);
  expect_code(r, "V0145");
  EXPECT_NE(r.err.find("note[V0399]: 30 more errors are not shown"), std::string::npos) << r.err;
}

TEST_F(CommandLine, check_json_is_data_either_way) {
  auto r = vyre({"check", "--json", file("a.vyre", two_kernels)});
  expect_exit(r, 0);
  Json json = parse_json<Json>(r.out);
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["kernels"], Json({"first", "second"}));

  r = vyre({"check", "--json", file("b.vyre", "kernel k(")});
  expect_exit(r, 2);
  EXPECT_EQ(r.err, "");
  json = parse_json<Json>(r.out);
  EXPECT_EQ(json["ok"], false);
  EXPECT_FALSE(json["diagnostics"].empty());
}

TEST_F(CommandLine, check_strict_turns_warnings_into_exit_1) {
  const std::string text =
      "kernel k(y: out u32[512]) workgroup(512) grid(512) {\n  y[global_id.x] = 1\n}\n";
  auto r = vyre({"check", file("a.vyre", text)});
  expect_exit(r, 0);
  EXPECT_NE(r.err.find("warning["), std::string::npos) << r.err;
  EXPECT_TRUE(r.err.ends_with("1 warning\n")) << r.err;
  EXPECT_EQ(r.out, "ok: 1 kernel\n");
  r = vyre({"check", "--strict", path("a.vyre")});
  expect_exit(r, 1);
  EXPECT_EQ(r.out, "");
}

TEST_F(CommandLine, check_overrides_constants) {
  const std::string text =
      "const N: u32 = 4\nkernel k(y: out u32[N]) workgroup(4) grid(4) {\n  y[0] = N\n}\n";
  expect_exit(vyre({"check", file("a.vyre", text), "--const", "N=8"}), 0);
  expect_exit(vyre({"check", path("a.vyre"), "--const", "M=8"}), 2);
  const auto r = vyre({"check", path("a.vyre"), "--const", "N"});
  expect_exit(r, 2);
  expect_code(r, "V0608");
}

TEST_F(CommandLine, ir_form_and_wire_form_run_like_the_text) {
  file("a.vyre", saxpy);
  const auto ir = vyre({"check", "a.vyre", "--print-ir", "--emit-wire", "a.wire"});
  expect_exit(ir, 0);
  EXPECT_TRUE(contents("a.wire").starts_with("VYRE"));
  file("ir.vyre", ir.out);
  for (const char* name : {"a.vyre", "ir.vyre", "a.wire"}) {
    const auto r = vyre({"run", std::string(name) + ":saxpy", "--set", "a=2", "--in", "x=1,2",
                         "--in", "y=1,1", "--print", "y"});
    expect_exit(r, 0);
    EXPECT_EQ(r.out, "y: 3 5\n") << name;
  }
  const auto r = vyre({"run", "a.wire", "--const", "N=8"});
  expect_exit(r, 2);
  expect_code(r, "V0620");
}

TEST_F(CommandLine, wire_form_that_cannot_be_written) {
  const auto r = vyre({"check", file("a.vyre", saxpy), "--emit-wire", "/no/such/folder/a.wire"});
  expect_exit(r, 3);
  expect_code(r, "V0641");
}

// ---- fmt
// -----------------------------------------------------------------------------------------

TEST_F(CommandLine, fmt_rewrites_and_check_only_names) {
  const std::string ugly = "kernel k( y:out u32[4] )  workgroup(4) grid(4) {\n      y[0]=1\n}\n";
  file("ugly.vyre", ugly);
  auto r = vyre({"fmt", "--check", "ugly.vyre"});
  expect_exit(r, 1);
  EXPECT_EQ(r.out, "ugly.vyre\n");
  EXPECT_EQ(contents("ugly.vyre"), ugly);

  expect_exit(vyre({"fmt", "ugly.vyre"}), 0);
  const std::string pretty = contents("ugly.vyre");
  EXPECT_NE(pretty, ugly);
  expect_exit(vyre({"fmt", "--check", "ugly.vyre"}), 0);

  r = vyre({"fmt", "-"}, ugly);
  expect_exit(r, 0);
  EXPECT_EQ(r.out, pretty);
}

TEST_F(CommandLine, fmt_leaves_a_file_with_a_syntax_error_alone) {
  const std::string text = "kernel  k( {\n";
  const auto r = vyre({"fmt", file("a.vyre", text)});
  expect_exit(r, 2);
  EXPECT_EQ(contents("a.vyre"), text);
  EXPECT_TRUE(r.err.find("error[V") != std::string::npos) << r.err;
}

TEST_F(CommandLine, fmt_of_a_wire_file) {
  const auto r = vyre({"fmt", file("a.wire", "VYRE....")});
  expect_exit(r, 2);
  expect_code(r, "V0621");
}

// ---- explain and devices
// -------------------------------------------------------------------------

TEST_F(CommandLine, explain_prints_pages_and_lists) {
  auto r = vyre({"explain", "V0601"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("no command was given"), std::string::npos);
  r = vyre({"explain"});
  expect_exit(r, 0);
  for (const CodeInfo& c : all_codes()) EXPECT_NE(r.out.find(to_string(c.code)), std::string::npos);
  r = vyre({"explain", "--markdown"});
  expect_exit(r, 0);
  EXPECT_TRUE(r.out.starts_with("# Error codes")) << r.out.substr(0, 80);
  r = vyre({"explain", "V0601", "--json"});
  expect_exit(r, 0);
  EXPECT_EQ(parse_json<Json>(r.out)[0]["name"], "NoCommand");
}

TEST_F(CommandLine, explain_of_an_unknown_code) {
  for (const char* code : {"V9999", "nonsense"}) {
    const auto r = vyre({"explain", code});
    expect_exit(r, 2);
    expect_code(r, "V0619");
  }
}

TEST_F(CommandLine, devices_say_what_is_here_and_why_not) {
  auto r = vyre({"devices"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("interp:0  reference interpreter"), std::string::npos) << r.out;
  const bool vulkan_is_here = r.out.find("vulkan:0") != std::string::npos;
  EXPECT_NE(vulkan_is_here, r.out.find("vulkan    not here, because ") != std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("subgroup sizes"), std::string::npos) << r.out;
  r = vyre({"devices", "-v"});
  expect_exit(r, 0);
  for (const char* word :
       {"memory", "shared memory", "subgroup sizes    1 2 4", "grid barrier", "expanded"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word;
}

TEST_F(CommandLine, devices_as_data) {
  const auto r = vyre({"devices", "--json"});
  expect_exit(r, 0);
  const Json json = parse_json<Json>(r.out);
  size_t here = 0;
  for (const Json& b : json["backends"]) {
    here += b["available"].get<bool>();
    EXPECT_EQ(b["available"].get<bool>(), !b["devices"].empty());
    EXPECT_EQ(b["available"].get<bool>(), b["why"] == "") << b;
  }
  EXPECT_GE(here, 1u);
  const Json interp = json["backends"].back();
  EXPECT_EQ(interp["name"], "interp");
  EXPECT_EQ(interp["devices"][0]["limits"]["workgroup_invocations"], 1024);
  EXPECT_TRUE(interp["devices"][0]["properties"].contains("types"));
}

}  // namespace
}  // namespace vyre
