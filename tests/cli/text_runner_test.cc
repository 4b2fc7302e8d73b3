// Tests that the text-test runner fails for wrong tests.

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

// remove_dead_stores removes the first store.
const std::string stores =
    "kernel k(y: out u32[1]) workgroup(1) grid(1) {\n  let i = global_id.x\n  y[i] = 5\n"
    "  y[i] = 6\n}\n";

TEST_F(TextRunner, passes_that_do_something_else_fail_with_a_diff) {
  const std::string test = "// test: pass\n" + stores;
  expect_failure(test, "kernel `k` has no `// pass:` below it");
  expect_failure(test + "// pass: remove_dead_store\n// unchanged\n", "remove_dead_store");
  expect_failure(test + "// pass: remove_dead_stores --cost gpu\n// unchanged\n",
                 "`--cost` has no meaning");
  const std::string rest = "//   %0 = global_id.x\n//   %1 = const 6 : u32\n//   store y[%0], %1\n";
  expect_failure(test + "// pass: remove_dead_stores\n// unchanged\n", "- // unchanged\n");
  expect_failure(test + "// pass: remove_dead_stores\n" + rest, "+ //   %2 = const 6 : u32\n");
  expect_failure("// test: pass\n" + legal + "// pass: simplify\n// remark: too large\n",
                 "- // remark: too large\n");
  file("t.vyre", test + "// pass: remove_dead_stores,remove_dead_code\n");
  EXPECT_EQ(runner({"--bless", "."}).exit_code, 0);
  EXPECT_EQ(contents("t.vyre"), test + "// pass: remove_dead_stores,remove_dead_code\n" + rest);
}

TEST_F(TextRunner, code_without_the_patterns_fails) {
  const std::string test = "// test: codegen\n" + stores;
  expect_failure(test, "kernel `k` has no `// emit:` below it");
  expect_failure(test + "// emit: --target ptx\n", "no pattern follows");
  const std::string emit = test + "// emit: --target ptx\n";
  expect_failure(emit + "// has: ld.global\n", "+ // lacks: ld.global\n");
  expect_failure(emit + "// has: st.global\n// has: .version\n", "has only before: .version\n");
  expect_failure(emit + "// lacks: st.global\n", "+ // has: st.global\n");
  expect_failure(emit + "// count: 3 st.global\n", "+ // count: 2 st.global\n");
  expect_failure(emit + "// fails: V0734\n", "does not fail so");
  expect_failure(emit + "// hsa: st.global\n", "has no meaning: hsa");
  expect_failure(test + "// emit: --target pxt\n// has: st.global\n", "V0607");
  EXPECT_EQ(runner({file("t.vyre", emit + "// has: .version\n// has: st.global\n"
                                          "// lacks: ld.global\n// count: 2 st.global\n")})
                .exit_code,
            0);
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
