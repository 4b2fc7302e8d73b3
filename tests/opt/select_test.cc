#include <gtest/gtest.h>

#include "opt/pass_selection.h"
#include "tests/opt/program_util.h"

namespace vyre::opt {
namespace {

Result<bool> nothing(Program&, PassContext&) { return false; }

constexpr std::string_view needs_scalar[] = {"scalar"};
constexpr std::string_view needs_loop[] = {"loop"};
constexpr std::string_view needs_middle[] = {"middle"};
constexpr std::string_view needs_unknown[] = {"nobody"};

constexpr PassDescriptor scalar = {.name = "scalar", .run = nothing};
constexpr PassDescriptor loop = {.name = "loop", .run = nothing, .family = CostFamily::Loop};
constexpr PassDescriptor memory = {.name = "memory", .run = nothing, .family = CostFamily::Memory};
constexpr PassDescriptor fusion = {.name = "fusion", .run = nothing, .family = CostFamily::Fusion};
constexpr PassDescriptor dataflow = {
    .name = "dataflow", .run = nothing, .family = CostFamily::Dataflow};
constexpr PassDescriptor mega = {.name = "mega", .run = nothing, .family = CostFamily::Megakernel};
constexpr PassDescriptor sync = {.name = "sync", .run = nothing, .family = CostFamily::Sync};
constexpr PassDescriptor unknown = {
    .name = "unknown", .run = nothing, .family = CostFamily::Unknown};
constexpr PassDescriptor breaks_abi = {
    .name = "breaks_abi", .run = nothing, .keeps_host_abi = false};
constexpr PassDescriptor grows = {.name = "grows", .run = nothing, .grows_code = true};
constexpr PassDescriptor drops_lines = {
    .name = "drops_lines", .run = nothing, .keeps_lines = false};
constexpr PassDescriptor wants_vectors = {
    .name = "wants_vectors", .run = nothing, .needs = capability(Capability::VectorAccess)};

const char* const tiny = "kernel k(x: inout u32[4]) workgroup(1) grid(1) {\n x[0] = 1\n}";

/// A kernel with exactly this many ops.
Program with_ops(uint64_t ops) {
  std::string text = "kernel k(x: inout u32[4]) workgroup(1) grid(1) {\n";
  Program p = program_of(text + "}");
  uint64_t lines = 0;
  while (p.ops.size() < ops) {
    ++lines;
    text = "kernel k(x: inout u32[4]) workgroup(1) grid(1) {\n var a = x[0]\n";
    for (uint64_t i = 1; i < lines; ++i) text += " a = a ^ global_id.x\n";
    p = program_of(text + "}");
  }
  return p;
}

Decision decide(const PassDescriptor& pass, const Program& p, Profile profile = Profile::Release) {
  const PassDescriptor* const list[] = {&pass};
  return select_passes({list, profile, &p}).front();
}

void expect(const Decision& d, bool selected, Reason reason, uint32_t priority) {
  EXPECT_EQ(d.selected, selected) << d.pass->name << ": " << d.detail;
  EXPECT_EQ(d.reason, reason) << name(d.reason);
  EXPECT_EQ(d.priority, priority);
}

TEST(Select, families_without_a_size_are_always_on) {
  const Program p = program_of(tiny);
  for (const PassDescriptor* pass : {&scalar, &sync, &unknown})
    expect(decide(*pass, p), true, Reason::AlwaysOn, 200);
}

TEST(Select, thresholds_are_at_least) {
  for (const auto& [pass, ops] :
       {std::pair{&loop, loop_ops}, {&dataflow, dataflow_ops}, {&mega, megakernel_ops}}) {
    const Program at = with_ops(ops);
    ASSERT_GE(at.ops.size(), ops);
    if (at.ops.size() == ops) expect(decide(*pass, at), true, Reason::ProgramShape, 300);
    Program below = with_ops(ops - 4);
    if (below.ops.size() < ops) expect(decide(*pass, below), false, Reason::BelowThreshold, 0);
  }
}

TEST(Select, memory_counts_static_bytes_and_takes_unknown_sizes_as_large) {
  const auto with = [](const char* type) {
    return program_of(std::string("kernel k(x: inout ") + type +
                      ") workgroup(1) grid(1) {\n x[0] = 1\n}");
  };
  expect(decide(memory, with("u32[4096]")), true, Reason::ProgramShape, 300);
  expect(decide(memory, with("u32[4095]")), false, Reason::BelowThreshold, 0);
  const Program open = with("u32[]");
  expect(decide(memory, open), true, Reason::ProgramShape, 300);
  // No number is invented for sizes that only the launch tells.
  EXPECT_EQ(decide(memory, open).detail,
            "buffer sizes are not known before the launch; family Memory needs 16384 bytes");
  EXPECT_EQ(decide(memory, with("u32[4095]")).detail, "16380 bytes, family Memory needs 16384");
  const PassDescriptor* const list[] = {&memory};
  SelectionInput known{list, Profile::Release, &open};
  known.target.launch_bytes = 16383;
  expect(select_passes(known).front(), false, Reason::BelowThreshold, 0);
  known.target.launch_bytes = 16384;
  expect(select_passes(known).front(), true, Reason::ProgramShape, 300);
}

TEST(Select, fusion_needs_two_top_level_regions) {
  const char* const head =
      "kernel k(x: inout u32[4]) workgroup(1) grid(1) {\n region \"a\" { x[0] = 1\n }\n";
  expect(decide(fusion, program_of(std::string(head) + "}")), false, Reason::BelowThreshold, 0);
  expect(decide(fusion, program_of(std::string(head) + " region \"b\" { x[1] = 1\n }\n}")), true,
         Reason::ProgramShape, 300);
}

TEST(Select, profiles) {
  const Program p = program_of(tiny);
  const auto selected = [&](Profile profile, const PassDescriptor& pass) {
    return decide(pass, p, profile).selected;
  };
  for (const PassDescriptor* pass : {&scalar, &sync, &grows})
    EXPECT_FALSE(selected(Profile::None, *pass));
  EXPECT_TRUE(selected(Profile::Debug, scalar));
  EXPECT_FALSE(selected(Profile::Debug, sync));
  EXPECT_FALSE(selected(Profile::Debug, drops_lines));
  EXPECT_FALSE(selected(Profile::Release, breaks_abi));
  EXPECT_TRUE(selected(Profile::Release, grows));
  EXPECT_FALSE(selected(Profile::Size, grows));
  EXPECT_TRUE(selected(Profile::Size, scalar));
  expect(decide(breaks_abi, p), false, Reason::ProfileRejected, 0);
}

TEST(Select, a_capability_that_the_target_lacks_rejects) {
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&wants_vectors};
  SelectionInput input{list, Profile::Release, &p};
  EXPECT_TRUE(select_passes(input).front().selected);
  input.target.capabilities.reset();
  expect(select_passes(input).front(), false, Reason::ProfileRejected, 0);
}

TEST(Select, telemetry_comes_before_reports_and_shape) {
  const Program p =
      program_of("kernel k(x: inout u32[4]) workgroup(1) grid(1) op_id(\"hot\") {\n x[0] = 1\n}");
  HotPathHints hints;
  hints.record("hot", 200'000, 0);
  const PassDescriptor* const list[] = {&scalar, &mega, &breaks_abi};
  SelectionInput input{list, Profile::Release, &p};
  input.hints = &hints;
  const auto d = select_passes(input);
  expect(d[0], true, Reason::HotPathTelemetry, 500);
  expect(d[1], true, Reason::HotPathTelemetry, 500);
  expect(d[2], false, Reason::ProfileRejected, 0);  // hints steer effort, never legality

  const Program unnamed = program_of(tiny);
  input.program = &unnamed;
  expect(select_passes(input)[1], false, Reason::BelowThreshold, 0);
}

TEST(Select, telemetry_is_that_of_the_targets_device_and_the_reason_states_the_mean) {
  const Program p =
      program_of("kernel k(x: inout u32[4]) workgroup(1) grid(1) op_id(\"k\") {\n x[0] = 1\n}");
  HotPathHints hints;
  hints.record("k", 100'000, 0, "slow");
  hints.record("k", 156'000, 0, "slow");
  hints.record("k", 1'600, 0, "fast");
  const PassDescriptor* const list[] = {&mega};
  SelectionInput input{list, Profile::Release, &p};
  input.hints = &hints;
  input.target.device = "slow";
  Decision d = select_passes(input).front();
  expect(d, true, Reason::HotPathTelemetry, 500);
  EXPECT_EQ(d.detail,
            "launches of `k` take 128000 ns on average (2 measured on slow); hot from 100000 ns");
  input.target.device = "fast";
  d = select_passes(input).front();
  expect(d, false, Reason::BelowThreshold, 0);
  EXPECT_NE(d.detail.find("take 1600 ns on average (1 measured on fast)"), std::string::npos)
      << d.detail;
  input.target.device = "other";
  d = select_passes(input).front();
  expect(d, false, Reason::BelowThreshold, 0);
  EXPECT_EQ(d.detail.find("average"), std::string::npos) << d.detail;
  hints.record("k", 200'000, 0);
  EXPECT_NE(select_passes(input).front().detail.find("measured on an unknown device"),
            std::string::npos);
}

TEST(Select, an_earlier_report_selects_what_changed_and_reduced) {
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&mega, &loop, &dataflow};
  SelectionInput input{list, Profile::Release, &p};
  RunReport report;
  const auto run = [&](const char* pass, PassDecision decision, uint64_t before, uint64_t after) {
    PassRun r;
    r.pass = pass;
    r.decision = decision;
    r.before.memory_ops = before;
    r.after.memory_ops = after;
    report.runs.push_back(r);
  };
  run("mega", PassDecision::Changed, 9, 8);
  run("loop", PassDecision::Changed, 8, 8);        // reduced nothing
  run("dataflow", PassDecision::Unchanged, 9, 8);  // changed nothing
  input.earlier = &report;
  const auto d = select_passes(input);
  expect(d[0], true, Reason::PassCostReport, 400);
  expect(d[1], false, Reason::BelowThreshold, 0);
  expect(d[2], false, Reason::BelowThreshold, 0);
}

TEST(Select, an_empty_report_decides_as_none) {
  const Program p = with_ops(70);
  const PassDescriptor* const list[] = {&scalar, &loop, &memory, &dataflow, &mega};
  SelectionInput input{list, Profile::Release, &p};
  const auto without = select_passes(input);
  const RunReport empty;
  input.earlier = &empty;
  const auto with = select_passes(input);
  for (size_t i = 0; i < without.size(); ++i) {
    EXPECT_EQ(with[i].selected, without[i].selected);
    EXPECT_EQ(with[i].reason, without[i].reason);
  }
}

TEST(Select, requirements_are_pulled_in_transitively) {
  static constexpr PassDescriptor middle = {.name = "middle",
                                            .run = nothing,
                                            .family = CostFamily::Megakernel,
                                            .requires_passes = needs_loop};
  static constexpr PassDescriptor top = {
      .name = "top", .run = nothing, .requires_passes = needs_middle};
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&loop, &middle, &top};
  const auto d = select_passes({list, Profile::Release, &p});
  expect(d[0], true, Reason::RequiredDependency, 100);
  expect(d[1], true, Reason::RequiredDependency, 100);
  expect(d[2], true, Reason::AlwaysOn, 200);
}

TEST(Select, a_requirement_with_a_reason_of_its_own_keeps_it) {
  static constexpr PassDescriptor top = {
      .name = "top", .run = nothing, .requires_passes = needs_scalar};
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&top, &scalar};
  expect(select_passes({list, Profile::Release, &p})[1], true, Reason::AlwaysOn, 200);
}

TEST(Select, a_rejected_pass_never_runs_and_neither_does_who_requires_it) {
  static constexpr std::string_view needs_breaker[] = {"breaks_abi"};
  static constexpr PassDescriptor middle = {
      .name = "middle", .run = nothing, .requires_passes = needs_breaker};
  static constexpr PassDescriptor top = {
      .name = "top", .run = nothing, .requires_passes = needs_middle};
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&top, &middle, &breaks_abi};
  const auto d = select_passes({list, Profile::Release, &p});
  for (const Decision& one : d) expect(one, false, Reason::ProfileRejected, 0);
  EXPECT_NE(d[0].detail.find("`middle`"), std::string::npos) << d[0].detail;
  EXPECT_NE(d[1].detail.find("`breaks_abi`"), std::string::npos) << d[1].detail;
}

TEST(Select, a_requirement_outside_of_the_list_does_not_count) {
  static constexpr PassDescriptor top = {
      .name = "top", .run = nothing, .requires_passes = needs_unknown};
  expect(decide(top, program_of(tiny)), true, Reason::AlwaysOn, 200);
}

TEST(Select, one_decision_a_pass_in_the_order_given) {
  const Program p = program_of(tiny);
  const PassDescriptor* const list[] = {&mega, &scalar, &loop};
  const auto d = select_passes({list, Profile::Release, &p});
  ASSERT_EQ(d.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(d[i].pass, list[i]);
}

}  // namespace
}  // namespace vyre::opt
