// The text-test runner must be able to fail, or its tests mean nothing.

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class TextRunner : public CommandLine {
 protected:
  ProcessResult runner(std::vector<std::string> words) const {
    words.insert(words.begin(), std::string(VYRE_BIN_DIR) + "/vyre_text_tests");
    ProcessOptions options;
    options.working_folder = folder_.string();
    return run_process(words, options);
  }

  /// Expects `text` to fail with `what` in the report.
  void expect_failure(const std::string& text, const std::string& what) const {
    const auto r = runner({file("t.vyre", text)});
    EXPECT_EQ(r.exit_code, 1) << text;
    EXPECT_NE(r.out.find(what), std::string::npos) << "expected " << what << " in\n" << r.out;
    EXPECT_TRUE(r.out.ends_with("0 passed, 1 failed\n")) << r.out;
  }
};

const std::string legal =
    "kernel k(x: inout u32[]) workgroup(4) grid(len(x)) {\n  x[global_id.x] += 1\n}\n";

TEST_F(TextRunner, nothing_is_skipped_silently) {
  expect_failure(legal, "no `// test: MODE`");
  expect_failure("// test: rnu\n" + legal, "there is no mode `rnu`");
  expect_failure("// test: run\n" + legal, "no `// run:` line");
  expect_failure("// test: run\n" + legal + "// run: --in x=1\n", "says what is expected");
  expect_failure("// test: run\n" + legal + "// run: --in x=1\n// otu: x = 2\n", "neither `run:`");
  expect_failure("// test: run\n" + legal + "// run: --print x\n// out: x = 2\n", "V0603");
  expect_failure("// test: reject\n" + legal + "//! V014O\n", "cannot be read");
  EXPECT_EQ(runner({folder_.string() + "/nothing"}).exit_code, 1);
  EXPECT_EQ(runner({}).exit_code, 2);
}

TEST_F(TextRunner, wrong_expectations_fail) {
  const std::string run = "// test: run\n" + legal + "// run: --in x=1,2\n";
  expect_failure(run + "// out: x = 2 4\n", "`x[1]`: expected 4, got 3");
  expect_failure(run + "// out: x = 2\n", "expected 1 elements, got 2");
  expect_failure(run + "// out: y = 2\n", "no output called `y`");
  expect_failure(run + "// traps: 1\n", "it succeeded");
  expect_failure(run + "// fails: V0451\n", "it succeeded");
  expect_failure("// test: run\n" + legal + "// run:\n// fails: V0455\n", "V0451");
  expect_failure("// test: reject\n" + legal, "the program is legal");
  expect_failure("// test: reject\nkernel k() workgroup(4) grid(4) {\n  let a = b\n}\n",
                 "not expected: V0119");
  expect_failure(
      "// test: reject\nkernel k() workgroup(4) grid(4) {\n  let a = b  //! V0119 \"zebra\"\n}\n",
      "zebra");
  expect_failure("// test: check-clean\nkernel k() workgroup(4) grid(4) {\n  let a = b\n}\n",
                 "V0119");
  expect_failure("// test: round-trip\nkernel k(\n", "the file has errors");
}

TEST_F(TextRunner, results_that_depend_on_the_schedule_fail_unless_they_are_said_to) {
  const std::string racy =
      "// test: run\nkernel k(y: out u32[1]) workgroup(4) grid(4) {\n  y[0] = global_id.x\n}\n";
  expect_failure(racy + "// run:\n// out: y = 3\n", "with --schedule reverse");
  EXPECT_EQ(
      runner({file("t.vyre", racy + "// run:\n// schedule-dependent\n// out: y = 3\n")}).exit_code,
      0);
  EXPECT_EQ(
      runner({file("t.vyre", racy + "// run: --schedule reverse\n// out: y = 0\n")}).exit_code, 0);
}

TEST_F(TextRunner, bless_writes_what_passes) {
  file("run.vyre", "// test: run\n" + legal + "// run: --in x=1,2\n// out: x:1 = 9\n\n// run:\n");
  file("reject.vyre",
       "// test: reject\nkernel k() workgroup(4) grid(4) {\n  let a = b\n  //! V0140\n}\n");
  EXPECT_EQ(runner({"."}).exit_code, 1);
  EXPECT_EQ(runner({"--bless", "."}).exit_code, 0);
  EXPECT_EQ(runner({"."}).exit_code, 0);
  EXPECT_EQ(contents("run.vyre"),
            "// test: run\n" + legal +
                "// run: --in x=1,2\n// out: x:1 = 2\n\n// run:\n// fails: V0451\n");
  EXPECT_EQ(contents("reject.vyre"),
            "// test: reject\nkernel k() workgroup(4) grid(4) {\n  let a = b  //! V0119\n}\n");
}

}  // namespace
}  // namespace vyre
