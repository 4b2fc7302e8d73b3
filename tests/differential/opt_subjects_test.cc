// The optimizer in the fuzzer: broken passes are found, and passes change generated programs.

#include "differential/opt_subjects.h"

#include <gtest/gtest.h>

#include <map>

#include "fuzz/fuzz.h"
#include "opt/pipeline.h"
#include "opt/rewriter.h"
#include "wire/fingerprint.h"

namespace vyre::lab {
namespace {

/// Fuzzes 60 programs with a wrong pass among the others; the names of the subjects that found it.
std::string found_by(const opt::PassDescriptor& wrong, std::vector<std::string> subjects) {
  const opt::RegisterPassForTest registered(wrong);
  FuzzOptions options;
  options.count = 60;
  options.subjects = std::move(subjects);
  const auto summary = fuzz(options);
  EXPECT_TRUE(summary);
  std::map<std::string, int> by_subject;
  for (const Finding& f : summary->findings) ++by_subject[f.subject];
  std::string names;
  for (const auto& [name, n] : by_subject) names += (names.empty() ? "" : " ") + name;
  return names;
}

/// Takes away every second store.
Result<bool> drops_stores(Program& p, opt::PassContext&) {
  opt::Rewriter r(p);
  int n = 0;
  for (const OpId op : r.ops())
    if (p.op(op).code == Opcode::Store && ++n % 2 == 0) r.remove(op);
  return r.finish();
}

Result<bool> marks_everything(Program& p, opt::PassContext&) {
  bool changed = false;
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::Load || p.memory(op).in_bounds) return;
    MemoryRef m = p.memory(op);
    m.in_bounds = true;
    p.op(op).attr = m.pack();
    changed = true;
  });
  return changed;
}

Result<bool> forgets_to_say(Program& p, opt::PassContext& context) {
  (void)drops_stores(p, context);
  return false;
}

TEST(OptSubjects, a_wrong_pass_is_found) {
  constexpr opt::PassDescriptor wrong = {
      .name = "drops_stores", .summary = "wrong", .run = drops_stores};
  EXPECT_EQ(found_by(wrong, {"opt:drops_stores", "opt:random"}), "opt:drops_stores opt:random");
}

TEST(OptSubjects, a_pass_that_lies_about_changes_is_found) {
  constexpr opt::PassDescriptor wrong = {
      .name = "forgets_to_say", .summary = "wrong", .run = forgets_to_say};
  EXPECT_EQ(found_by(wrong, {"opt:forgets_to_say"}), "opt:forgets_to_say");
}

TEST(OptSubjects, a_false_mark_is_found) {
  constexpr opt::PassDescriptor wrong = {
      .name = "marks_everything", .summary = "wrong", .run = marks_everything};
  EXPECT_EQ(found_by(wrong, {"opt:marks_everything", "opt:in_bounds"}), "opt:in_bounds");
}

// labels: slow
TEST(OptSubjects, nothing_is_found_in_the_passes) {
  FuzzOptions options;
  options.seed = 7'000'000;
  options.count = 300;
  options.subjects = {"opt"};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  for (const Finding& f : summary->findings) ADD_FAILURE() << f.what.message;
  EXPECT_GT(summary->status.runs, 300u * opt::all_passes().size());
}

TEST(OptSubjects, passes_alone_take_turns_unless_they_are_asked_for) {
  const auto all = choose_subjects({});
  const auto asked = choose_subjects({"opt"});
  ASSERT_TRUE(all && asked);
  for (const Subject& s : *all) {
    if (s.name == "opt:fold_constants") {
      EXPECT_GT(s.turns, 1u);
    }
    if (s.name == "opt:pipeline") {
      EXPECT_EQ(s.turns, 1u);
    }
  }
  for (const Subject& s : *asked) EXPECT_EQ(s.turns, 1u);
}

// A pass that generated programs give nothing to do is not tested by them.
TEST(OptSubjects, every_pass_changes_some_of_the_programs) {
  std::map<std::string, int> changed;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Generated g = generate(seed);
    for (const opt::PassDescriptor* pass : opt::all_passes())
      for (const Program& kernel : g.module.kernels) {
        Program copy = kernel;
        opt::OptimizeOptions options;
        options.passes = {pass};
        ASSERT_TRUE(opt::optimize(copy, options));
        changed[std::string(pass->name)] += fingerprint(copy) != fingerprint(kernel);
      }
  }
  for (const opt::PassDescriptor* pass : opt::all_passes()) {
    EXPECT_GT(changed[std::string(pass->name)], 0) << pass->name;
    RecordProperty(std::string(pass->name), changed[std::string(pass->name)]);
  }
}

}  // namespace
}  // namespace vyre::lab
