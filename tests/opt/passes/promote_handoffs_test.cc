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

/// Runs the pass; its changes, remarks and counts must agree.
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

// Workgroups past the buffer's end store nothing and read zeros.
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
