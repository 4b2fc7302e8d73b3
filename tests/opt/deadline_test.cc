// Passes and emitters poll their deadline within their loops over ops, so that a program of 16 Mi
// ops cannot hold them up. Polls are counted, not seconds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/ptx/ptx_emit.h"
#include "codegen/spirv/spirv_emit.h"
#include "diagnostics/work_deadline.h"
#include "opt/pipeline.h"
#include "plan/split/split_grid.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre::opt {
namespace {

/// A loop with thousands of ops, some of which every pass has work with.
Program long_program() {
  std::string body;
  for (int k = 0; k < 2000; ++k)
    body += fmt::format(
        "    t[l] = x[i + {0}] / 7 + {0} * 2 + (i - i)\n"
        "    z[l] = t[l] + x[i + {0}]\n"
        "    y[i + {0}] = z[l]\n"
        "    barrier workgroup\n",
        k);
  ParseOutcome outcome = parse(
      "kernel k(x: in u32[], y: inout u32[], z: scratch u32[64]) "
      "workgroup(64) grid(len(y)) {\n"
      "  shared t: u32[64]\n  let i = global_id.x\n  let l = local_id.x\n"
      "  for r in 0..3 {\n" +
      body + "  }\n}\n");
  EXPECT_TRUE(outcome.module) << render(outcome.diagnostics, outcome.sources);
  return outcome.module->kernels[0];
}

/// Questions that the work asks if it is never over.
template <class Work>
uint64_t questions_of(const Work& work) {
  uint64_t questions = 0;
  EXPECT_TRUE(run_until([&] { return ++questions == 0; }, work));
  return questions;
}

/// Questions of one run of a pass and of the schedule around it.
uint64_t questions_of(const PassDescriptor* pass, const Program& program) {
  Program changed = program;
  uint64_t questions = 0;
  ScheduleOptions options;
  options.check = false;
  options.stop_after = 1;
  options.is_over = [&] { return ++questions == 0; };
  RunReport report;
  EXPECT_TRUE(run_passes(changed, {&pass, 1}, {}, options, report)) << pass->name;
  return questions;
}

Result<bool> nothing(Program&, PassContext&) { return false; }
constexpr PassDescriptor idle = {.name = "idle", .summary = "does nothing", .run = nothing};

TEST(Deadline, is_polled_by_each_pass) {
  const Program program = long_program();
  ASSERT_GT(program.ops.size(), 20000u);
  const uint64_t of_schedule = questions_of(&idle, program);
  const uint64_t least = program.ops.size() / WorkDeadline::steps_per_question / 2;
  for (const PassDescriptor* const pass : all_passes())
    EXPECT_GE(questions_of(pass, program), of_schedule + least) << pass->name;
}

TEST(Deadline, is_polled_by_emitters_and_printer) {
  const Program program = long_program();
  const uint64_t least = program.ops.size() / WorkDeadline::steps_per_question;
  EXPECT_GE(questions_of([&] { EXPECT_TRUE(emit_ptx::emit(program, {})); }), least);
  EXPECT_GE(questions_of([&] { EXPECT_TRUE(emit_spirv::emit(program, {})); }), least);
  EXPECT_GE(questions_of([&] { EXPECT_FALSE(print(program).empty()); }), least);
}

Result<bool> walk_forever(Program& p, PassContext&) {
  p.workgroup[0] = 1;  // undone
  for (int i = 0; i < 100'000; ++i) walk(p, [](OpId) {});
  return true;
}
constexpr PassDescriptor endless = {
    .name = "walk_forever", .summary = "does not end", .run = walk_forever};

TEST(Deadline, ends_a_pass_that_has_begun_and_undoes_it) {
  const Program program = long_program();
  Program changed = program;
  const PassDescriptor* const pass = &endless;
  bool is_over = false;
  uint64_t questions = 0;
  ScheduleOptions options;
  options.check = false;
  options.is_over = [&] { return is_over |= ++questions == 200; };
  RunReport report;
  ASSERT_TRUE(run_passes(changed, {&pass, 1}, {}, options, report));
  EXPECT_EQ(questions, 200u);
  EXPECT_TRUE(report.runs.empty());
  EXPECT_FALSE(report.settled);
  EXPECT_EQ(changed.workgroup[0], program.workgroup[0]);
  EXPECT_EQ(fingerprint(changed), fingerprint(program));
}

TEST(Deadline, is_of_its_thread_and_scope) {
  EXPECT_EQ(WorkDeadline::current(), nullptr);
  {
    const std::function<bool()> never = [] { return false; }, at_once = [] { return true; };
    const WorkDeadline outer(never);
    EXPECT_EQ(WorkDeadline::current(), &outer);
    EXPECT_FALSE(run_until(at_once, [] {
      for (uint32_t i = 0; i < WorkDeadline::steps_per_question; ++i) WorkDeadline::poll_current();
    }));
    EXPECT_EQ(WorkDeadline::current(), &outer);
  }
  EXPECT_EQ(WorkDeadline::current(), nullptr);
}

}  // namespace
}  // namespace vyre::opt
