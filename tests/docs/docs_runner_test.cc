// Tests that the runner of documentation fails for wrong pages.

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class PageRunner : public CommandLine {
 protected:
  ProcessResult page(const std::string& text) const {
    ProcessOptions options;
    options.working_folder = folder_.string();
    return run_process({std::string(VYRE_BIN_DIR) + "/vyre_text_tests", file("page.md", text)},
                       options);
  }
  void expect_success(const std::string& text) const {
    const auto r = page(text);
    EXPECT_EQ(r.exit_code, 0) << text << r.out;
  }
  void expect_failure(const std::string& text, const std::string& what) const {
    const auto r = page(text);
    EXPECT_EQ(r.exit_code, 1) << text;
    EXPECT_NE(r.out.find(what), std::string::npos) << "expected " << what << " in\n" << r.out;
  }
};

const std::string kernel =
    "kernel k(x: inout u32[]) workgroup(4) grid(len(x)) {\n  x[global_id.x] += 1\n}\n";

std::string block(const std::string& tag, const std::string& text) {
  return "Text.\n\n```" + tag + "\n" + text + "```\n";
}

TEST_F(PageRunner, programs_are_checked_and_run) {
  expect_success(block("vyre", kernel));
  expect_success(block("vyre", kernel + "// run: --in x=1\n// out: x = 2\n"));
  expect_failure(block("vyre", kernel + "// run: --in x=1\n// out: x = 3\n"),
                 "line 8: `x[0]`: expected 3, got 2");
  expect_failure(block("vyre", "kernel k() workgroup(4) grid(1) { let a = b }\n"),
                 "V0119 at line 4");
  expect_failure(block("vyre", "kernel k() workgroup(512) grid(1) { }\n"), "V0322");
}

TEST_F(PageRunner, mistakes_are_rejected_as_marked) {
  expect_success(block("vyre-error", "kernel k() workgroup(4) grid(1) { let a = b }  //! V0119\n"));
  expect_failure(block("vyre-error", "kernel k() workgroup(4) grid(1) { let a = b }  //! V0120\n"),
                 "expected V0120");
  expect_failure(block("vyre-error", kernel), "the program is legal");
}

TEST_F(PageRunner, commands_are_run_where_named_programs_are) {
  const std::string named = block("vyre", "// my.vyre\n" + kernel);
  expect_success(named + block("console",
                               "$ vyre check my.vyre\nok: 1 kernel\n$ vyre run my.vyre \\\n  --in "
                               "x=1 --print x\nx: 2\n"));
  expect_success(
      named +
      block("console",
            "$ vyre run my.vyre --help\nRun a kernel or a graph and show its outputs\n…\n"));
  expect_failure(named + block("console", "$ vyre check my.vyre\nok: 2 kernels\n"), "ok: 1 kernel");
  expect_failure(named + block("console", "$ vyre check my.vyre\nok: 1 kernel\nmore\n"),
                 "ok: 1 kernel");
  expect_failure(block("console", "$ vyre check my.vyre\nok: 1 kernel\n"), "V0178");
  expect_failure(block("console", "$ rm -r /\n"), "only `$ vyre …` is run");
  expect_success(block("console", "$ vyre check examples/saxpy.vyre\nok: 1 kernel\n"));
}

TEST_F(PageRunner, nothing_escapes) {
  expect_failure(block("", "any text\n"), "needs a tag");
  expect_failure(block("vyer", kernel), "there is no tag `vyer`");
  expect_failure(block("text", kernel), "is not tested");
  expect_failure("Text:\n\n    let a = 1\n", "put it into");
  expect_failure("```vyre\n" + kernel, "not closed");
}

TEST_F(PageRunner, links_lead_somewhere) {
  expect_success(
      "# A heading, and `more`\n\n[here](#a-heading-and-more) [there](https://example.com)\n");
  expect_failure("[here](#nowhere)\n", "has no heading #nowhere");
  expect_failure("[here](nothing.md)\n", "there is no");
}

}  // namespace
}  // namespace vyre
