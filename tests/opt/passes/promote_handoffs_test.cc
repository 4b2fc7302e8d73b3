#include "opt/passes/promote_handoffs.h"

#include <fmt/format.h>

#include "opt/device_costs.h"
#include "opt/passes/number_values.h"
#include "opt/passes/remove_dead_code.h"
#include "opt/passes/simplify.h"
#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

struct Promotion {
  Program before, after;
  bool changed = false;
  std::string why;
  std::vector<HandoffCandidate> candidates;
  size_t barriers() const { return count(after, Opcode::Barrier); }
  Role role(std::string_view name) const { return buffer(name).role; }
  uint64_t elements(std::string_view name) const {
    uint64_t n = 0;
    after.formulas.is_constant(buffer(name).count, &n);
    return n;
  }
  const Buffer& buffer(std::string_view name) const {
    for (const Buffer& b : after.buffers)
      if (b.name == name) return b;
    ADD_FAILURE() << name;
    return after.buffers[0];
  }
};

/// Runs the pass; what it does, finds and counts must agree.
Promotion promote(const std::string& text, uint64_t shared_bytes = 0,
                  const DeviceCosts* costs = nullptr) {
  Promotion r;
  r.before = r.after = program_of(text);
  Facts facts(r.after);
  Target target;
  target.shared_bytes = shared_bytes;
  target.costs = costs;
  PassContext context{facts, target, {}, 0, false};
  r.candidates = handoff_candidates(r.after, target).promoted;
  EXPECT_EQ(count_handoffs(r.after, target), r.candidates.size());
  const auto changed = promote_handoffs(r.after, context);
  EXPECT_TRUE(changed);
  r.changed = changed && *changed;
  EXPECT_EQ(r.changed, !r.candidates.empty());
  EXPECT_EQ(r.changed, fingerprint(r.before) != fingerprint(r.after));
  if (!context.refusals.empty()) r.why = context.refusals[0].why;
  EXPECT_FALSE(has_errors(check(r.after))) << print(r.after);
  for (size_t i = 0; i < r.before.buffers.size(); ++i)
    EXPECT_EQ(r.before.buffers[i].name, r.after.buffers[i].name);
  return r;
}

/// Launches with these numbers of invocations: around a tile of 16 and many.
void expect_same_for_sizes(const Promotion& r) {
  for (const uint64_t n : {0, 1, 15, 16, 17, 200}) {
    LaunchInputs in = some_inputs(r.before, n, 3);
    for (const auto schedule : {interp::Schedule::Order, interp::Schedule::Reverse}) {
      interp::Options options;
      options.schedule = schedule;
      const auto a = interp::run(r.before, in, options), b = interp::run(r.after, in, options);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(a->buffers, b->buffers) << n << "\n" << print(r.before) << print(r.after);
    }
  }
}

/// A kernel with a scratch buffer `t` that stands between its other parameters.
std::string kernel(const std::string& body, const std::string& scratch = "t: scratch u32[4096]",
                   const std::string& grid = "len(x)") {
  return "kernel k(x: in u32[], " + scratch + ", y: out u32[len(x)]) workgroup(16) grid(" + grid +
         ") {\nlet i = global_id.x\nlet l = local_id.x\nlet w = workgroup_id.x\n" + body + "\n}\n";
}

TEST(PromoteHandoffs, a_tile_of_the_launch_shrinks_to_one_of_the_workgroup) {
  const Promotion r =
      promote(kernel("t[i] = x[i] * 3\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]"));
  EXPECT_TRUE(r.changed);
  EXPECT_EQ(r.role("t"), Role::Shared);
  EXPECT_EQ(r.elements("t"), 16u);
  EXPECT_EQ(r.barriers(), 1u);
  expect_same_for_sizes(r);
}

TEST(PromoteHandoffs, a_barrier_is_put_between_the_phases) {
  const Promotion r = promote(kernel("t[i] = x[i] * 3\n y[i] = t[i] + 1"));
  EXPECT_TRUE(r.changed) << r.why;
  EXPECT_EQ(r.barriers(), 1u);
  expect_same_for_sizes(r);
}

// Workgroups behind the buffer's end store nothing and read zeros.
TEST(PromoteHandoffs, what_the_buffer_does_not_have_stays_zero) {
  for (const char* body :
       {"t[i] = x[i] + 3\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]",
        "t[i - 4] = x[i] + 3\n barrier workgroup\n y[i] = t[w * 16 + 11 - l]",
        "t[i32(i) - 4] = x[i] + 3\n barrier workgroup\n y[i] = t[w * 16 + 11 - l]"})
    for (const char* scratch : {"t: scratch u32[100]", "t: scratch u32[1]", "t: scratch u32[16]"}) {
      const Promotion r = promote(kernel(body, scratch));
      EXPECT_TRUE(r.changed) << r.why;
      expect_same_for_sizes(r);
    }
}

TEST(PromoteHandoffs, several_elements_of_a_lane_cover_the_tile) {
  const Promotion r = promote(
      kernel("for j in 0..4 { t[i * 4 + j] = x[i] * 4 + j }\n barrier workgroup\n var s: u32 = 0\n"
             "for j in 0..64 { s = s * 31 + t[w * 64 + j] }\n y[i] = s"));
  EXPECT_TRUE(r.changed) << r.why;
  EXPECT_EQ(r.elements("t"), 64u);
  expect_same_for_sizes(r);
  const Promotion strided =
      promote(kernel("for j in 0..4 { t[w * 64 + j * 16 + l] = x[i] * 4 + j }\n barrier "
                     "workgroup\n y[i] = t[w * 64 + l * 4 + 3]"));
  EXPECT_TRUE(strided.changed) << strided.why;
  expect_same_for_sizes(strided);
}

TEST(PromoteHandoffs, indices_without_the_workgroup_keep_the_buffer_as_it_is) {
  const Promotion r = promote(kernel("t[l] = x[i]\n barrier workgroup\n y[i] = t[15 - l] + len(t)",
                                     "t: scratch u32[40]", "min(len(x), 16)"));
  EXPECT_TRUE(r.changed) << r.why;
  EXPECT_EQ(r.elements("t"), 40u);
  expect_same_for_sizes(r);
}

TEST(PromoteHandoffs, phases_may_stand_in_a_loop) {
  const Promotion r =
      promote(kernel("for k in 0..3 {\n t[i] = x[i] + k\n barrier workgroup\n y[i] += t[w * 16 + "
                     "15 - l]\n barrier workgroup\n }"));
  EXPECT_TRUE(r.changed) << r.why;
  EXPECT_EQ(r.barriers(), 2u);
  expect_same_for_sizes(r);
}

TEST(PromoteHandoffs, refuses_what_it_cannot_prove) {
  const auto why = [](const std::string& body,
                      const std::string& scratch = "t: scratch u32[4096]") {
    const Promotion r = promote(kernel(body, scratch));
    EXPECT_FALSE(r.changed) << print(r.after);
    return r.why;
  };
  const std::string not_written =
      "it is not proved that the workgroup stores every element of `t` that it loads";
  EXPECT_EQ(why("y[i] = t[i]\n barrier workgroup\n t[i] = 1"), "`t` is loaded before it is stored");
  EXPECT_EQ(why("for k in 0..2 { y[i] = t[i]\n t[i] = k }"), "`t` is loaded before it is stored");
  // Two workgroups communicate: only by a race, or by a barrier of both.
  EXPECT_EQ(why("t[i] = 1\n barrier workgroup\n y[i] = t[i + 16]"), not_written);
  EXPECT_EQ(why("t[i] = 1\n barrier grid\n y[i] = t[i]"),
            "a grid barrier lets workgroups exchange elements of `t`");
  EXPECT_EQ(why("t[i] = 1\n atomic_add(y[0], 1, acq_rel)\n barrier workgroup\n y[i] = t[i]"),
            "an acq_rel atomic lets workgroups exchange elements of `t`");
  EXPECT_EQ(why("t[i] = 1\n atomic_add(t[i], 1)\n barrier workgroup\n y[i] = t[i]"),
            "`t` is accessed by `atomic_add`, which is not a plain load or store");
  // Not on every path, not all of it, not by every lane.
  EXPECT_EQ(why("if x[i] > 3 { t[i] = 1 }\n barrier workgroup\n y[i] = t[i]"), not_written);
  EXPECT_EQ(why("t[i * 2] = 1\n barrier workgroup\n y[i] = t[i * 2 + 1]"), not_written);
  EXPECT_EQ(why("t[w * 32 + l * 2] = 1\n barrier workgroup\n y[i] = t[w * 32 + l]"), not_written);
  EXPECT_EQ(why("for j in 0..x[0] { t[i] = 1 }\n barrier workgroup\n y[i] = t[i]"), not_written);
  EXPECT_EQ(why("for j in 0..4 { if j == x[i] { break }\n t[i * 4 + j] = 1 }\n barrier workgroup\n "
                "y[i] = t[i * 4]"),
            not_written);
  EXPECT_EQ(why("if x[i] == 5 { return }\n t[i] = 1\n y[i] = t[w * 16]"),
            "no barrier separates the stores of `t` from its loads, and one cannot be inserted "
            "after a return");
  EXPECT_EQ(why("t[i] = 1\n barrier workgroup\n y[i] = t[i * 2]"),
            "indices of `t` advance by 16 and by 32 per workgroup");
  EXPECT_EQ(why("t[i] = 1"), "`t` is never loaded");
  EXPECT_EQ(why("y[i] = t[i]"), "`t` is never stored");
  EXPECT_EQ(
      why("for k in 0..2 { t[i] = k\n y[i] = t[i] }"),
      "no barrier separates the stores of `t` from its loads, and one cannot be inserted in a "
      "loop or branch");
  EXPECT_EQ(why("if x[0] > 1 { t[i] = x[i]\n y[i] = t[i] }\n y[i] += t[i]"),
            "a loop or branch holds the first stores of `t` and loads of it");
  EXPECT_EQ(why("t[i] = 1\n barrier workgroup\n y[i] = t[x[i]]"),
            "an index of `t` has no bounds in its workgroup");
  EXPECT_EQ(why("t[4095 - i] = 1\n barrier workgroup\n y[i] = t[4095 - i]"),
            "indices of `t` decrease from workgroup to workgroup");
}

TEST(PromoteHandoffs, other_lengths_are_not_candidates_and_say_why) {
  const std::string run_time = "`t` has a run-time length, and shared memory needs a constant one";
  const std::pair<const char*, std::string> list[] = {{"t: scratch u32[0]", "`t` has length 0"},
                                                      {"t: scratch u32[]", run_time},
                                                      {"t: scratch u32[len(x)]", run_time},
                                                      {"t: out u32[64]", ""}};
  for (const auto& [scratch, why] : list) {
    const Promotion r = promote(kernel("t[i] = x[i]\n barrier workgroup\n y[i] = t[i]", scratch));
    EXPECT_FALSE(r.changed) << scratch;
    EXPECT_EQ(r.why, why) << scratch;
  }
  EXPECT_FALSE(promote("kernel k(x: in u32[], y: out u32[len(x)]) workgroup(16) grid(len(x)) {\n "
                       "y[global_id.x] = 1\n}\n")
                   .changed);
}

TEST(PromoteHandoffs, stores_may_follow_the_first_loads) {
  for (const char* body :
       {"t[i] = x[i]\n barrier workgroup\n let a = t[w * 16 + 15 - l]\n barrier workgroup\n t[i] = "
        "a * 3\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]",
        "t[i] = x[i]\n t[i] = t[i] * 3\n y[i] = t[i]",
        // A sum by halves, in a loop that loads and stores.
        "t[i] = x[i]\n barrier workgroup\n var d: u32 = 8\n while d > 0 {\n if l < d { t[w * 16 + "
        "l] += t[w * 16 + (l + d) % 16] }\n barrier workgroup\n d /= 2\n }\n y[i] = t[w * 16]"}) {
    const Promotion r = promote(kernel(body));
    EXPECT_TRUE(r.changed) << r.why << body;
    EXPECT_EQ(r.elements("t"), 16u);
    expect_same_for_sizes(r);
  }
  // Only stores before the first load count: what it reads was not all written.
  const Promotion late = promote(
      kernel("t[w * 32 + l] = x[i]\n barrier workgroup\n let a = t[w * 32 + 16 + l]\n barrier "
             "workgroup\n t[w * 32 + 16 + l] = a + 1\n y[i] = a"));
  EXPECT_FALSE(late.changed);
  EXPECT_EQ(late.why,
            "it is not proved that the workgroup stores every element of `t` that it loads");
}

std::string of_size(uint64_t n) {
  return kernel(fmt::format("for j in 0..{0} {{ t[l + j * 16] = x[j] }}\n barrier workgroup\n y[i] "
                            "= t[l * 3] + t[{1}]",
                            (n + 15) / 16, n - 1),
                fmt::format("t: scratch u32[{}]", n), "min(len(x), 16)");
}

TEST(PromoteHandoffs, the_budget_is_exact) {
  const Promotion fits = promote(of_size(4096));
  EXPECT_TRUE(fits.changed) << fits.why;
  EXPECT_EQ(fits.candidates[0].bytes, 16384u);
  expect_same_for_sizes(fits);
  const Promotion above = promote(of_size(4097));
  EXPECT_FALSE(above.changed);
  EXPECT_EQ(above.why, "`t` needs 16388 bytes of shared memory, and 16384 are available");
  EXPECT_TRUE(promote(of_size(4097), 16388).changed);
  EXPECT_FALSE(promote(of_size(4097), 16387).changed);
}

TEST(PromoteHandoffs, shared_memory_that_the_program_has_counts) {
  const std::string text = kernel(
      "shared s: u32[16]\n s[l] = x[i]\n t[l] = x[i]\n barrier workgroup\n y[i] = t[15 - l] + s[15 "
      "- l]",
      "t: scratch u32[100]", "min(len(x), 16)");
  EXPECT_TRUE(promote(text, 64 + 400).changed);
  EXPECT_FALSE(promote(text, 64 + 399).changed);
}

TEST(PromoteHandoffs, of_two_that_do_not_fit_together_the_busier_one_goes) {
  const std::string text =
      "kernel k(x: in u32[], t: scratch u32[3000], u: scratch u32[3000], y: out u32[len(x)]) "
      "workgroup(16) "
      "grid(min(len(x), 16)) {\n let i = global_id.x\n let l = local_id.x\n"
      "for j in 0..188 { t[l + j * 16] = x[j]\n u[l + j * 16] = j }\n barrier workgroup\n"
      "var s: u32 = t[15 - l]\n for j in 0..9 { s += u[l * 2 + j] }\n y[i] = s\n}\n";
  const Promotion r = promote(text);
  EXPECT_EQ(r.role("u"), Role::Shared);
  EXPECT_EQ(r.role("t"), Role::Scratch);
  EXPECT_EQ(r.why, "`t` needs 12000 bytes of shared memory, and 4384 are available");
  expect_same_for_sizes(r);
  const Promotion both = promote(text, 24000);
  EXPECT_EQ(both.candidates.size(), 2u);
  EXPECT_EQ(both.role("t"), Role::Shared);
  expect_same_for_sizes(both);
}

TEST(PromoteHandoffs, a_size_that_overflows_is_no_candidate) {
  const Promotion r = promote(kernel("t[l] = x[i]\n barrier workgroup\n y[i] = t[15 - l]",
                                     "t: scratch u32[70368744177664]", "16"));
  EXPECT_FALSE(r.changed);
}

// ---- Indices in the tile.

/// The index of each access of shared memory: its ops, in program order. All accesses must be
/// in_bounds.
std::string tile_indices(const std::string& body,
                         const std::string& scratch = "t: scratch u32[4096]") {
  const Promotion r = promote(kernel(body, scratch));
  EXPECT_TRUE(r.changed) << r.why;
  expect_same_for_sizes(r);
  Program p = r.after;
  for (const PassFunction pass : {PassFunction(number_values), PassFunction(simplify),
                                  PassFunction(number_values), PassFunction(remove_dead_code)})
    p = run_once(pass, p).program;
  std::string text;
  const auto describe = [&](const auto& self, ValueId v) -> std::string {
    const OpId op = p.values[v].def;
    if (op == none) return "counter";
    if (p.op(op).code == Opcode::Const) return fmt::to_string(p.op(op).attr);
    std::vector<std::string> operands;
    for (const ValueId operand : p.operands(op)) operands.push_back(self(self, operand));
    if (operands.empty()) return std::string(mnemonic(p.op(op).code));
    return fmt::format("{}({})", mnemonic(p.op(op).code), fmt::join(operands, ", "));
  };
  walk(p, [&](OpId op) {
    if (info(p.op(op).code).attribute != AttrKind::Memory ||
        p.buffers[p.memory(op).buffer].role != Role::Shared)
      return;
    EXPECT_TRUE(p.memory(op).in_bounds) << print(p);
    text += (text.empty() ? "" : "; ") + describe(describe, p.operand(op, 0));
  });
  return text;
}

TEST(PromoteHandoffs, an_index_of_the_tile_has_no_term_of_the_workgroup) {
  EXPECT_EQ(tile_indices("t[i] = x[i]\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]"),
            "local_id; sub(15, local_id)");
  EXPECT_EQ(
      tile_indices("for j in 0..4 { t[(w * 64 + j * 16) + l] = x[j] }\n barrier workgroup\n y[i] = "
                   "t[w * 64 + l * 4 + 3]"),
      "add(shl(counter, 4), local_id); add(shl(local_id, 2), 3)");
  EXPECT_EQ(
      tile_indices(
          "for j in 0..4 { t[i * 4 + j] = x[j] }\n barrier workgroup\n y[i] = t[w * 64 + 63 - "
          "l * 2]"),
      "add(shl(local_id, 2), counter); sub(63, shl(local_id, 1))");
  EXPECT_EQ(tile_indices("t[i + 5] = x[i]\n barrier workgroup\n y[i] = t[w * 16 + 20 - l]"),
            "local_id; sub(15, local_id)");
  EXPECT_EQ(tile_indices(
                "t[i32(i) - 3] = x[i]\n barrier workgroup\n y[i] = t[i32(w * 16) + 12 - i32(l)]"),
            "local_id; sub(15, local_id)");
  EXPECT_EQ(
      tile_indices("t[u64(i)] = x[i]\n barrier workgroup\n y[i] = t[u64(w) * 16 + 15 - u64(l)]"),
      "local_id; sub(15, local_id)");
}

TEST(PromoteHandoffs, terms_of_the_workgroup_that_are_not_found_are_subtracted) {
  // The walk over sums does not look into a choice.
  EXPECT_EQ(
      tile_indices(
          "t[i] = x[i]\n barrier workgroup\n y[i] = t[select(x[i] > 5, w * 16 + 15, w * 16 + 3)]"),
      "local_id; sub(select(gt(load(global_id), 5), add(shl(workgroup_id, 4), 15), "
      "add(shl(workgroup_id, 4), 3)), shl(workgroup_id, 4))");
}

// Whether the buffer has it, is a question of the workgroup where no tile lies across the end.
TEST(PromoteHandoffs, stores_outside_of_the_buffer_store_zero) {
  const auto conditions = [](const std::string& scratch, const std::string& index = "i") {
    const Promotion r = promote(kernel(
        "t[" + index + "] = x[i] + 1\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]", scratch));
    EXPECT_TRUE(r.changed) << r.why;
    EXPECT_EQ(count(r.after, Opcode::Select), 1u);
    expect_same_for_sizes(r);
    std::string text;
    walk(r.after, [&](OpId op) {
      if (r.after.op(op).code != Opcode::Lt) return;
      const OpId place = r.after.values[r.after.operand(op, 0)].def;
      text += fmt::format("{} of {}", mnemonic(r.after.op(place).code), name(r.after.op(op).type));
    });
    return text;
  };
  EXPECT_EQ(conditions("t: scratch u32[128]"), "mul of u32");
  EXPECT_EQ(conditions("t: scratch u32[100]"), "global_id of u32");
  EXPECT_EQ(conditions("t: scratch u32[128]", "i32(i)"), "cast of u32");
  EXPECT_EQ(conditions("t: scratch u32[128]", "u64(i)"), "mul of u64");
  EXPECT_EQ(conditions("t: scratch u32[100]", "u64(i)"), "cast of u64");
}

// ---- Profit.

/// One picosecond for each byte to or from device memory and nothing else.
constexpr DeviceCosts only_traffic = {.name = "test device",
                                      .tile = {.cache_bytes = 1024, .device_byte = 1}};

std::string reason(const std::string& text, const DeviceCosts& costs) {
  const Promotion r = promote(text, 1 << 16, &costs);
  EXPECT_EQ(r.changed, r.why.empty());
  if (r.changed) expect_same_for_sizes(r);
  return r.why;
}
bool pays(const std::string& text, const DeviceCosts& costs) { return reason(text, costs).empty(); }

const std::string handoff = "t[i] = x[i]\n barrier workgroup\n y[i] = t[w * 16 + 15 - l]";

TEST(PromoteHandoffsProfit, a_buffer_in_the_cache_saves_no_traffic) {
  EXPECT_EQ(reason(kernel(handoff, "t: scratch u32[256]"), only_traffic),
            "promoting `t` does not pay on a test device: for each workgroup it saves 0 ps (cached "
            "buffer of 1024 "
            "bytes, 2 checked accesses per invocation) and costs 0 ps (3 index ops per invocation, "
            "0 bytes cleared, 0 "
            "barriers, 64 bytes of shared memory)");
  EXPECT_TRUE(pays(kernel(handoff, "t: scratch u32[272]"), only_traffic));
  // All workgroups store to these elements, so they move from core to core.
  EXPECT_TRUE(pays(kernel("t[l] = x[i]\n barrier workgroup\n y[i] = t[15 - l]",
                          "t: scratch u32[16]", "min(len(x), 16)"),
                   only_traffic));
}

// A tile of 64 bytes, stored and loaded once: 128 ps.
TEST(PromoteHandoffsProfit, each_cost_counts) {
  DeviceCosts costs = only_traffic;
  costs.tile.tile_reuse = 127;
  EXPECT_TRUE(pays(kernel(handoff), costs));
  costs.tile.tile_reuse = 128;
  EXPECT_FALSE(pays(kernel(handoff), costs));

  costs = only_traffic;
  costs.tile.index_op = 2;  // 16 invocations · 3 ops
  EXPECT_TRUE(pays(kernel(handoff), costs));
  costs.tile.index_op = 3;
  EXPECT_FALSE(pays(kernel(handoff), costs));

  costs = only_traffic;
  costs.tile.barrier = 8;  // 16 invocations
  EXPECT_TRUE(pays(kernel(handoff), costs)) << "it has a barrier";
  const std::string without = "t[i] = x[i]\n y[i] = t[w * 16 + l]";
  EXPECT_FALSE(pays(kernel(without), costs));
  costs.tile.barrier = 7;
  EXPECT_TRUE(pays(kernel(without), costs));

  // 65 iterations: the tile of 16 · 65 elements is zeroed.
  const auto looped = [](int n) {
    return kernel(fmt::format(
        "for j in 0..{0} {{ t[i * {0} + j] = x[j] }}\n barrier workgroup\n y[i] = t[w * 16 * "
        "{0} + l]",
        n));
  };
  costs = only_traffic;
  costs.tile.clear_byte = 2;
  EXPECT_TRUE(pays(looped(64), costs));
  EXPECT_FALSE(pays(looped(65), costs));
  costs.tile.clear_byte = 1;
  EXPECT_TRUE(pays(looped(65), costs));
}

TEST(PromoteHandoffsProfit, faster_accesses_and_dropped_checks_are_saved) {
  DeviceCosts costs = {.name = "test device",
                       .tile = {.cache_bytes = ~uint64_t{0}, .tile_reuse = 255}};
  costs.tile.cached_byte = 3;  // 16 invocations · 8 bytes · (3 - 1)
  costs.tile.shared_byte = 1;
  EXPECT_TRUE(pays(kernel(handoff), costs));
  costs.tile.shared_byte = 2;
  EXPECT_FALSE(pays(kernel(handoff), costs));
  costs.tile.shared_byte = 3;
  costs.tile.bounds_check = 8;  // 16 · 2
  EXPECT_TRUE(pays(kernel(handoff), costs));
  costs.tile.bounds_check = 7;
  EXPECT_FALSE(pays(kernel(handoff), costs));
}

// Units hold 64 invocations and 512 bytes; 64 hide the latency. With 64 bytes per workgroup of 16
// all 4 fit; with 256 bytes only 2 do, and the other traffic takes twice as long.
TEST(PromoteHandoffsProfit, occupancy_that_is_lost_counts) {
  DeviceCosts costs = only_traffic;
  costs.tile.unit_shared = 512;
  costs.tile.unit_threads = 64;
  costs.tile.hiding_threads = 64;
  EXPECT_TRUE(pays(kernel(handoff), costs));
  const auto of_4 = [](int loads) {
    return kernel(fmt::format(
        "for j in 0..4 {{ t[i * 4 + j] = j }}\n barrier workgroup\n var s: u32 = 0\n for j in "
        "0..{} {{ s += x[j * 16 + l] }}\n y[i] = t[w * 64 + 63 - l] + s",
        loads));
  };
  // Saved: 2 · 256 bytes. Lost: 16 invocations · (loads · 4 + 4) bytes.
  EXPECT_TRUE(pays(of_4(6), costs));
  EXPECT_FALSE(pays(of_4(7), costs));
  costs.tile.hiding_threads = 32;
  EXPECT_TRUE(pays(of_4(7), costs)) << "32 resident invocations are enough";
}

// The kernels of bench/natural and bench/plans, by the tables that drivers use.
TEST(PromoteHandoffsProfit, small_buffers_stay_in_the_cache_of_a_cpu) {
  const auto two_rounds = [](uint64_t n) {
    return fmt::format(
        "kernel k(x: in u32[{0}], t: scratch u32[{0}], y: out u32[{0}]) workgroup(64) grid({0}) "
        "{{\n"
        "let i = global_id.x\n let w = workgroup_id.x * 64 + 63 - local_id.x\n t[i] = x[i]\n "
        "barrier workgroup\n"
        "let a = t[w]\n barrier workgroup\n t[i] = a * 3\n barrier workgroup\n y[i] = t[w]\n}}\n",
        n);
  };
  const auto promotes = [](const std::string& text, const DeviceCosts& costs) {
    return promote(text, 48 << 10, &costs).changed;
  };
  EXPECT_FALSE(promotes(two_rounds(4096), cpu_costs));
  EXPECT_TRUE(promotes(two_rounds(1 << 20), cpu_costs));
  EXPECT_TRUE(promotes(two_rounds(4096), gpu_costs));
  // Many loads of each element: their bounds checks go.
  const std::string ranks =
      "kernel k(x: in u32[4096], t: scratch u32[4096], y: out u32[4096]) workgroup(64) grid(4096) "
      "{\n"
      "t[global_id.x] = x[global_id.x]\n barrier workgroup\n var r: u32 = 0\n"
      "for j in 0..64 { if t[workgroup_id.x * 64 + j] < x[global_id.x] { r += 1 } }\n "
      "y[global_id.x] = r\n}\n";
  EXPECT_TRUE(promotes(ranks, cpu_costs));
  EXPECT_TRUE(promotes(ranks, gpu_costs));
}

}  // namespace
}  // namespace vyre::opt
