// V0801, V0802, V0803, V0805
#include <gtest/gtest.h>

#include <filesystem>

#include "check/check.h"
#include "opt/pass_manager.h"
#include "opt/pipeline.h"
#include "support/file.h"
#include "tests/opt/program_util.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre::opt {
namespace {

Result<bool> nothing(Program&, PassContext&) { return false; }

constexpr std::string_view needs_b[] = {"b"};
constexpr std::string_view needs_c[] = {"c"};
constexpr std::string_view needs_a[] = {"a"};

std::string names(const Result<std::vector<const PassDescriptor*>>& list) {
  if (!list) return to_string(list.errors()[0].code) + ": " + list.errors()[0].message;
  std::string text;
  for (const PassDescriptor* p : *list) text += std::string(p->name) + " ";
  return text;
}

TEST(Order, goes_by_phase_then_by_requirement_then_as_given) {
  static constexpr PassDescriptor late = {.name = "late", .run = nothing, .phase = Phase::Cleanup};
  static constexpr PassDescriptor a = {.name = "a", .run = nothing, .requires_passes = needs_b};
  static constexpr PassDescriptor b = {.name = "b", .run = nothing};
  static constexpr PassDescriptor first = {
      .name = "first", .run = nothing, .phase = Phase::Canonical};
  const PassDescriptor* const list[] = {&late, &a, &b, &first};
  EXPECT_EQ(names(order_passes(list)), "first b a late ");
}

TEST(Order, duplicate_names_are_an_error) {
  static constexpr PassDescriptor a = {.name = "a", .run = nothing};
  const PassDescriptor* const list[] = {&a, &a};
  EXPECT_EQ(names(order_passes(list)), "V0802: pass `a` is there twice");
}

TEST(Order, an_unknown_requirement_is_an_error) {
  static constexpr PassDescriptor a = {.name = "a", .run = nothing, .requires_passes = needs_b};
  const PassDescriptor* const list[] = {&a};
  EXPECT_EQ(names(order_passes(list)), "V0801: pass `a` requires `b`, which is not in the list");
}

TEST(Order, a_circle_is_named) {
  static constexpr PassDescriptor a = {.name = "a", .run = nothing, .requires_passes = needs_b};
  static constexpr PassDescriptor b = {.name = "b", .run = nothing, .requires_passes = needs_c};
  static constexpr PassDescriptor c = {.name = "c", .run = nothing, .requires_passes = needs_a};
  const PassDescriptor* const list[] = {&a, &b, &c};
  EXPECT_EQ(names(order_passes(list)),
            "V0803: passes require each other: `a` requires `b` requires `c` requires `a`");
}

TEST(PassNames, unknown_and_repeated_names_are_errors_with_a_fix) {
  const auto unknown = parse_passes("fold_constant");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(to_string(unknown.errors()[0].code), "V0801");
  EXPECT_NE(unknown.errors()[0].fix.find("fold_constants"), std::string::npos);
  const auto twice = parse_passes("fold_constants,fold_constants");
  ASSERT_FALSE(twice);
  EXPECT_EQ(to_string(twice.errors()[0].code), "V0802");
  EXPECT_TRUE(parse_passes("none")->empty());
}

const char* const sums =
    "kernel k(x: inout u32[]) workgroup(64) grid(len(x)) {\n"
    "  let a = 2 + 3\n"
    "  let unused = x[7] * 2\n"
    "  x[global_id.x] = (global_id.x + 1) * (global_id.x + 1) + a\n"
    "}";

TEST(Schedule, runs_to_a_fixed_point_and_reports_each_run) {
  Program p = program_of(sums);
  ScheduleOptions options;
  options.check = true;
  RunReport report;
  ASSERT_TRUE(run_passes(p, all_passes(), {}, options, report));
  EXPECT_TRUE(report.settled);
  EXPECT_GE(report.iterations, 2u);
  EXPECT_LT(report.after.instructions, report.before.instructions);
  EXPECT_EQ(report.after, cost_of(p));
  bool changed = false;
  for (const PassRun& run : report.runs) {
    changed |= run.decision == PassDecision::Changed;
    if (run.decision != PassDecision::Changed) {
      EXPECT_EQ(run.before, run.after) << run.pass;
    }
    if (run.decision != PassDecision::NotDirty) {
      EXPECT_FALSE(run.effects_before.empty()) << run.pass;
    }
  }
  EXPECT_TRUE(changed);
}

Result<bool> shrink_once(Program& p, PassContext&) {
  if (p.workgroup[0] == 32) return false;
  p.workgroup[0] = 32;
  return true;
}

TEST(Schedule, a_pass_that_has_seen_the_program_does_not_run_again) {
  static constexpr PassDescriptor shrink = {.name = "shrink", .run = shrink_once};
  static constexpr PassDescriptor idle = {.name = "idle", .run = nothing};
  const PassDescriptor* const list[] = {&shrink, &idle};
  Program p = program_of(sums);
  RunReport report;
  ASSERT_TRUE(run_passes(p, list, {}, {}, report));
  std::string text;
  for (const PassRun& run : report.runs)
    text += run.pass + ":" + std::string(name(run.decision)) + " ";
  EXPECT_EQ(text, "shrink:changed idle:unchanged shrink:unchanged idle:not_dirty ");
}

TEST(Schedule, stops_after_as_many_runs_as_asked_for) {
  for (uint64_t n = 0; n < 4; ++n) {
    Program p = program_of(sums);
    ScheduleOptions options;
    options.stop_after = n;
    RunReport report;
    ASSERT_TRUE(run_passes(p, all_passes(), {}, options, report));
    EXPECT_EQ(report.runs.size(), n);
  }
}

TEST(Schedule, stops_before_the_next_run_when_the_time_is_over) {
  for (uint64_t n = 0; n < 4; ++n) {
    Program p = program_of(sums);
    ScheduleOptions options;
    RunReport report;
    options.is_over = [&] { return report.runs.size() >= n; };
    ASSERT_TRUE(run_passes(p, all_passes(), {}, options, report));
    EXPECT_EQ(report.runs.size(), n);
    EXPECT_FALSE(has_errors(check(p)));
  }
}

Result<bool> lies(Program& p, PassContext&) {
  p.workgroup[0] = 32;
  return false;
}
Result<bool> breaks(Program& p, PassContext&) {
  p.op(p.blocks[body_block].first).type = Type::F64;
  p.values[p.result(p.blocks[body_block].first)].type = Type::F64;
  return true;
}
Result<bool> adds_barrier(Program& p, PassContext&) {
  const OpId barrier =
      p.add_op(Opcode::Barrier, Type::Void, {}, {}, uint64_t(Scope::Workgroup), none);
  p.insert_before(p.blocks[body_block].first, barrier);
  compact(p);
  return true;
}

void expect_caught(PassFunction run, std::string_view name, std::string_view word) {
  const PassDescriptor bad = {.name = name, .run = run};
  const PassDescriptor* const list[] = {&bad};
  Program p = program_of(sums);
  const Hash128 before = fingerprint(p);
  ScheduleOptions options;
  options.check = true;
  options.dump_folder = testing::TempDir();
  RunReport report;
  const Result<> done = run_passes(p, list, {}, options, report);
  ASSERT_FALSE(done) << name;
  const Diagnostic& d = done.errors()[0];
  EXPECT_EQ(to_string(d.code), "V0805");
  EXPECT_NE(d.message.find(name), std::string::npos) << d.message;
  EXPECT_NE(d.message.find(word), std::string::npos) << d.message;
  EXPECT_EQ(fingerprint(p), before) << "the program must be as it was";
  // The file is the program before, ready to run.
  const std::string& note = d.notes.at(0).message;
  const std::string path = note.substr(note.find('/'));
  const FileContents file = read_file(path);
  ASSERT_TRUE(file) << path;
  const ParseOutcome again = parse(file.bytes);
  ASSERT_TRUE(again.module) << path;
  EXPECT_EQ(fingerprint(again.module->kernels[0]), before);
  std::filesystem::remove(path);
}

TEST(Schedule, a_pass_that_breaks_the_program_is_named_and_undone) {
  expect_caught(lies, "lies", "unchanged");
  expect_caught(breaks, "breaks", "no longer legal");
  expect_caught(adds_barrier, "adds_barrier", "does not declare");
}

}  // namespace
}  // namespace vyre::opt
