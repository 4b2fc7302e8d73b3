// Launch groups: the order of checks, the examples of the contract, sums that overflow, storage
// that fails, and the best plan against brute force.

#include "plan/launches/launch_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <set>

#include "tools/vyre/program_file.h"

namespace vyre::plan {
namespace {

constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
using Stages = std::vector<LaunchStage>;

/// (input, output, scratch) with ids 1, 2, … and one layout.
Stages stages(std::initializer_list<std::array<uint64_t, 3>> sizes) {
  Stages list;
  for (const auto& [input, output, scratch] : sizes)
    list.push_back({list.size() + 1, 7, input, output, scratch, false});
  return list;
}

Result<LaunchPlan> plan(const Stages& list, uint64_t budget) {
  static LaunchGroupStorage storage;
  return plan_launch_groups(list, budget, storage);
}

Diagnostic error(const Stages& list, uint64_t budget) {
  const auto r = plan(list, budget);
  EXPECT_FALSE(r);
  if (r) return {};
  EXPECT_EQ(r.errors().size(), 1u);
  EXPECT_FALSE(r.errors()[0].fix.empty());
  return r.errors()[0];
}

bool mentions(const Diagnostic& d, std::string_view text) {
  return d.message.find(text) != d.message.npos;
}

// ---- The examples.

TEST(LaunchGroups, three_stages_of_one_layout_are_one_group) {
  const auto r = plan(stages({{64, 32, 8}, {32, 48, 8}, {48, 16, 8}}), 256);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->groups.size(), 1u);
  EXPECT_EQ(r->groups[0], (LaunchGroup{0, 3, 7, 184, 80}));
  EXPECT_EQ(r->launches, 1u);
  EXPECT_EQ(r->avoided_launches, 2u);
  EXPECT_EQ(r->avoided_bytes, 80u);
}

TEST(LaunchGroups, layouts_and_the_host_separate) {
  Stages list = stages({{64, 32, 8}, {32, 48, 8}, {48, 16, 8}, {16, 8, 8}});
  list[0].layout_hash = 7;
  list[1].layout_hash = list[2].layout_hash = 8;
  list[2].needs_host = true;
  list[3].layout_hash = 9;
  const auto r = plan(list, 128);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->launches, 4u);
  EXPECT_EQ(r->avoided_launches, 0u);
  EXPECT_EQ(r->avoided_bytes, 0u);
}

TEST(LaunchGroups, V0852_lone_stage_over_budget) {
  const Diagnostic d = error(stages({{64, 32, 64}}), 128);
  EXPECT_EQ(d.code, Code::StageOverBudget);
  EXPECT_TRUE(mentions(d, "stage 1 ")) << d.message;
  EXPECT_TRUE(mentions(d, "160")) << d.message;
  EXPECT_TRUE(mentions(d, "128")) << d.message;
}

// ---- The order of checks.

TEST(LaunchGroups, V0851_budget_of_zero_comes_first_even_without_stages) {
  EXPECT_EQ(error({}, 0).code, Code::LaunchBudgetZero);
  EXPECT_EQ(error(stages({{most, most, 1}}), 0).code, Code::LaunchBudgetZero);
}

TEST(LaunchGroups, no_stages_give_an_empty_plan) {
  const auto r = plan({}, 1);
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->groups.empty());
  EXPECT_EQ(r->launches + r->avoided_launches + r->avoided_bytes, 0u);
}

TEST(LaunchGroups, V0853_duplicate_ids_come_before_any_budget) {
  Stages list = stages({{1, 1, 1}, {1000, 1000, 1000}, {1, 1, 1}, {most, 1, 0}});
  list[2].id = list[0].id;
  const Diagnostic d = error(list, 10);
  EXPECT_EQ(d.code, Code::DuplicateStageId);
  EXPECT_TRUE(mentions(d, "id 1")) << d.message;
  EXPECT_TRUE(mentions(d, "stages 0 and 2")) << d.message;
}

TEST(LaunchGroups, first_pair_of_duplicates_is_named) {
  Stages list = stages({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  list[0].id = list[3].id = 5;
  list[1].id = list[2].id = 9;
  EXPECT_TRUE(mentions(error(list, 10), "stages 1 and 2"));
}

TEST(LaunchGroups, head_of_a_later_group_over_budget_fails_the_plan) {
  const Diagnostic d = error(stages({{1, 1, 1}, {1, 1, 1}, {8, 200, 3}, {1, 1, 1}}), 100);
  EXPECT_EQ(d.code, Code::StageOverBudget);
  EXPECT_TRUE(mentions(d, "stage 3 needs 211 bytes; the budget is 100")) << d.message;
}

// ---- Joining.

TEST(LaunchGroups, stage_that_does_not_fit_opens_the_next_group) {
  const auto r = plan(stages({{64, 32, 8}, {32, 48, 8}, {48, 16, 8}}), 183);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->groups.size(), 2u);
  EXPECT_EQ(r->groups[0], (LaunchGroup{0, 2, 7, 160, 32}));
  EXPECT_EQ(r->groups[1], (LaunchGroup{2, 1, 7, 72, 0}));
}

TEST(LaunchGroups, later_stages_join_one_that_needs_the_host) {
  Stages list = stages({{8, 8, 0}, {8, 8, 0}, {8, 8, 0}});
  list[1].needs_host = true;
  const auto r = plan(list, 1000);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->groups.size(), 2u);
  EXPECT_EQ(r->groups[1].count, 2u);
  list[1].needs_host = false;
  list[0].needs_host = true;  // a boundary before the first stage separates nothing
  EXPECT_EQ(plan(list, 1000)->launches, 1u);
}

// ---- Sums.

TEST(LaunchGroups, V0854_every_sum_that_overflows_is_named) {
  const auto field = [](const Stages& list, uint64_t budget) {
    const Diagnostic d = error(list, budget);
    EXPECT_EQ(d.code, Code::StageBytesOverflow) << d.message;
    return d.message.substr(0, d.message.find(" of stage"));
  };
  EXPECT_EQ(field(stages({{most, 1, 0}}), 5), "stage io");
  EXPECT_EQ(field(stages({{most - 1, 1, 1}}), 5), "stage required");
  EXPECT_EQ(field(stages({{1, 1, 1}, {most, 1, 0}}), 5), "stage io");
  EXPECT_EQ(field(stages({{1, 0, 0}, {0, 0, most}}), most), "fused scratch");
  EXPECT_EQ(field(stages({{1, 0, 0}, {0, most, 0}}), most), "fused output");
  // Overflows while joining is tried, though the stage would fit alone and the group would not.
  EXPECT_EQ(field(stages({{9, 0, 0}, {0, 0, most}}), most), "fused scratch");
  EXPECT_TRUE(mentions(error(stages({{1, 0, 0}, {0, most, 0}}), most), "stage 2"));
  const uint64_t half = uint64_t{1} << 63;
  Stages groups = stages({{0, half, 0}, {0, 1, 0}, {0, half, 0}, {0, 1, 0}});
  groups[2].layout_hash = groups[3].layout_hash = 8;
  EXPECT_EQ(field(groups, most), "avoided bytes");
}

TEST(LaunchGroups, sums_up_to_the_largest_number_are_fine) {
  const auto r = plan(stages({{1, 1, 1}, {1, most - 4, 1}}), most);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->groups[0].required_bytes, most);
}

TEST(LaunchGroups, different_layouts_are_never_added_up) {
  Stages list = stages({{1, 0, 0}, {0, 0, most}});
  list[1].layout_hash = 8;
  EXPECT_TRUE(plan(list, most));
}

// ---- Storage.

/// Serves `allowed` allocations, then throws std::bad_alloc, or an int if `odd`.
class Failing : public std::pmr::memory_resource {
 public:
  int allowed = 0, taken = 0;
  bool odd = false;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (taken >= allowed) {
      if (odd) throw 7;
      throw std::bad_alloc();
    }
    ++taken;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& o) const noexcept override { return this == &o; }
};

TEST(LaunchGroups, V0855_storage_that_fails_is_an_error_and_can_be_used_again) {
  const Stages list = stages({{64, 32, 8}, {32, 48, 8}, {48, 16, 8}});
  for (const bool best : {false, true})
    for (const bool odd : {false, true}) {
      Failing memory;
      memory.odd = odd;
      LaunchGroupStorage storage(&memory);
      const auto go = [&] {
        return best ? best_launch_groups(list, 256, storage)
                    : plan_launch_groups(list, 256, storage);
      };
      int failures = 0;
      for (auto r = go(); !r; r = go()) {
        EXPECT_EQ(r.errors()[0].code, Code::PlanStorageFailed);
        EXPECT_FALSE(r.errors()[0].fix.empty());
        ASSERT_LT(++failures, 10);
        ++memory.allowed;
      }
      EXPECT_EQ(failures, best ? 4 : 2);
      EXPECT_EQ(go()->groups[0].required_bytes, 184u);
    }
}

TEST(LaunchGroups, storage_takes_no_memory_for_a_second_plan) {
  Failing memory;
  memory.allowed = 100;
  LaunchGroupStorage storage(&memory);
  const Stages list = stages({{64, 32, 8}, {32, 48, 8}, {48, 16, 8}});
  ASSERT_TRUE(best_launch_groups(list, 256, storage));
  memory.allowed = memory.taken;
  EXPECT_TRUE(plan_launch_groups(list, 256, storage));
  EXPECT_TRUE(best_launch_groups(list, 100, storage).errors()[0].code == Code::StageOverBudget);
  EXPECT_TRUE(best_launch_groups(std::span(list).first(2), 256, storage));
}

// ---- Generated cases.

struct Case {
  Stages list;
  uint64_t budget;
};

Case generate(uint64_t seed, size_t longest) {
  std::mt19937_64 random(seed);
  Case c;
  const size_t n = random() % (longest + 1);
  const uint64_t sizes = 1 + random() % 100, hashes = 1 + random() % 3, hosts = 2 + random() % 20;
  const bool consistent = random() % 2;  // the input is the output before
  for (size_t i = 0; i < n; ++i) {
    LaunchStage s{i * 3 + 1,
                  random() % hashes,
                  random() % sizes,
                  random() % sizes,
                  random() % 4 ? 0 : random() % sizes,
                  random() % hosts == 0};
    if (random() % 40 == 0) s.input = random();
    if (random() % 60 == 0) s.scratch = most - random() % 100;
    if (consistent && i > 0) s.input = c.list.back().output;
    c.list.push_back(s);
  }
  if (n > 1 && random() % 30 == 0) c.list[random() % n].id = c.list[random() % n].id;
  c.budget = random() % 20 == 0 ? most - random() % 10 : 1 + random() % (sizes * 8);
  return c;
}

/// Applies the rules of launch groups to a range of stages; nothing if it is not a group.
std::optional<LaunchGroup> group_of(const Case& c, uint32_t first, uint32_t count) {
  const LaunchStage& head = c.list[first];
  unsigned __int128 required = head.input, avoided = 0;
  required += head.output;
  required += head.scratch;
  for (uint32_t i = first + 1; i < first + count; ++i) {
    if (c.list[i].needs_host || c.list[i].layout_hash != head.layout_hash) return {};
    required += c.list[i].scratch;
    required += c.list[i].output;
    avoided += c.list[i - 1].output;
  }
  if (required > c.budget) return {};
  return LaunchGroup{first, count, head.layout_hash, uint64_t(required), uint64_t(avoided)};
}

void expect_legal(const Case& c, const LaunchPlan& p) {
  uint32_t next = 0;
  uint64_t avoided = 0;
  for (const LaunchGroup& g : p.groups) {
    ASSERT_EQ(g.first, next);
    ASSERT_GT(g.count, 0u);
    next += g.count;
    ASSERT_LE(next, c.list.size());
    const auto expected = group_of(c, g.first, g.count);
    ASSERT_TRUE(expected);
    EXPECT_EQ(g, *expected);
    EXPECT_LE(g.required_bytes, c.budget);
    EXPECT_EQ(g.stages(c.list).front().id, c.list[g.first].id);
    avoided += g.avoided_bytes;
  }
  EXPECT_EQ(next, c.list.size());
  EXPECT_EQ(p.launches, p.groups.size());
  EXPECT_EQ(p.avoided_launches, c.list.size() - p.groups.size());
  EXPECT_EQ(p.avoided_bytes, avoided);
}

TEST(LaunchGroups, invariants_hold_over_generated_cases) {
  LaunchGroupStorage storage;
  std::set<Code> codes;
  size_t plans = 0, joined = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = generate(seed, 24);
    const auto r = plan_launch_groups(c.list, c.budget, storage);
    if (!r) {
      codes.insert(r.errors()[0].code);
      continue;
    }
    ++plans;
    joined += r->avoided_launches;
    expect_legal(c, *r);
    // Greedy: no stage could have joined the group before its own.
    for (size_t g = 1; g < r->groups.size(); ++g)
      EXPECT_FALSE(group_of(c, r->groups[g - 1].first, r->groups[g - 1].count + 1));
    if (HasFailure()) return;
  }
  EXPECT_GT(plans, 3000u);
  EXPECT_GT(joined, 3000u);
  EXPECT_EQ(codes.size(), 3u);
}

/// Fewest launches, then most avoided bytes, over all ways to cut the list.
std::optional<std::pair<uint64_t, uint64_t>> brute_force(const Case& c) {
  std::optional<std::pair<uint64_t, uint64_t>> best;
  const auto n = static_cast<uint32_t>(c.list.size());
  for (uint32_t cuts = 0; cuts < 1u << (n - 1); ++cuts) {
    uint64_t launches = 0, avoided = 0;
    bool legal = true;
    for (uint32_t first = 0, i = 1; i <= n && legal; ++i) {
      if (i < n && !(cuts >> (i - 1) & 1)) continue;
      const auto g = group_of(c, first, i - first);
      legal = g.has_value();
      if (g) ++launches, avoided += g->avoided_bytes;
      first = i;
    }
    if (legal &&
        (!best || launches < best->first || (launches == best->first && avoided > best->second)))
      best = {launches, avoided};
  }
  return best;
}

TEST(BestLaunchGroups, are_those_of_brute_force) {
  LaunchGroupStorage storage;
  size_t plans = 0, none_there = 0;
  for (uint64_t seed = 0; seed < 6'000; ++seed) {
    SCOPED_TRACE(seed);
    Case c = generate(seed, 10);
    if (c.list.empty()) continue;
    const auto r = best_launch_groups(c.list, c.budget, storage);
    if (!r && r.errors()[0].code != Code::StageOverBudget) continue;
    const auto expected = brute_force(c);
    ASSERT_EQ(bool(r), expected.has_value());
    if (!r) {
      ++none_there;
      continue;
    }
    ++plans;
    expect_legal(c, *r);
    EXPECT_EQ(r->launches, expected->first);
    EXPECT_EQ(r->avoided_bytes, expected->second);
    if (HasFailure()) return;
  }
  EXPECT_GT(plans, 1000u);
  EXPECT_GT(none_there, 100u);
}

TEST(BestLaunchGroups, are_never_worse_than_greedy_ones) {
  LaunchGroupStorage storage, other;
  size_t better = 0, plans = 0;
  for (uint64_t seed = 100'000; seed < 110'000; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = generate(seed, 60);
    const auto greedy = plan_launch_groups(c.list, c.budget, storage);
    if (!greedy) continue;
    const auto best = best_launch_groups(c.list, c.budget, other);
    ASSERT_TRUE(best);
    ++plans;
    expect_legal(c, *best);
    EXPECT_LE(best->launches, greedy->launches);
    if (best->launches == greedy->launches) {
      EXPECT_GE(best->avoided_bytes, greedy->avoided_bytes);
      better += best->avoided_bytes > greedy->avoided_bytes;
    } else {
      ++better;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(plans, 1000u);
  EXPECT_GT(better, 50u);
}

TEST(BestLaunchGroups, cut_where_least_is_handed_over) {
  // Greedy takes two and one; one and two launch as often, and hand over 100 instead of 1.
  const Stages list = stages({{1, 1, 0}, {1, 100, 0}, {100, 1, 0}});
  LaunchGroupStorage storage;
  EXPECT_EQ(plan_launch_groups(list, 102, storage)->avoided_bytes, 1u);
  const auto best = best_launch_groups(list, 102, storage);
  ASSERT_EQ(best->groups.size(), 2u);
  EXPECT_EQ(best->groups[0].count, 1u);
  EXPECT_EQ(best->avoided_bytes, 100u);
}

TEST(BestLaunchGroups, long_lists_take_no_quadratic_time) {
  Stages list;
  for (uint64_t i = 0; i < 200'000; ++i) list.push_back({i, 7, 1, i % 7, 0, false});
  LaunchGroupStorage storage;
  EXPECT_EQ(best_launch_groups(list, most, storage)->launches, 1u);
  EXPECT_GT(best_launch_groups(list, 1000, storage)->launches, 100u);
}

// ---- Real graphs.

Module parse(const std::string& text) {
  const auto loaded = cli::load_module_bytes(text, "test");
  EXPECT_TRUE(loaded.module) << render(loaded.diagnostics, {});
  return loaded.module ? *loaded.module : Module{};
}

GraphShape shape_of(const Module& m, std::vector<std::optional<std::vector<std::byte>>> data) {
  data.resize(m.graphs[0].buffers.size());
  const auto shape = resolve_graph(m.graphs[0], data, {}, 0);
  EXPECT_TRUE(shape) << (shape ? "" : render(shape.errors(), {}));
  return shape ? *shape : GraphShape{};
}

TEST(LayoutHash, covers_bindings_workgroup_and_geometry) {
  const char* base = "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { }";
  const auto hash = [](const std::string& text, uint64_t n) {
    const Module m = parse(text);
    const Program& p = m.kernels[0];
    std::vector<std::optional<uint64_t>> counts(p.buffers.size()), scalars(p.buffers.size());
    for (size_t i = 0; i < counts.size(); ++i)
      if (p.buffers[i].role != Role::Shared) counts[i] = n;
    const auto shape = resolve_launch(p, counts, scalars, std::nullopt);
    EXPECT_TRUE(shape);
    return layout_hash(p, *shape);
  };
  std::set<uint64_t> seen = {hash(base, 100)};
  for (const char* other :
       {"kernel k(x: in i32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { }",
        "kernel k(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) { }",
        "kernel k(y: out u32[], x: in u32[]) workgroup(64) grid(len(x)) { }",
        "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) { }",
        "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(8, 8) grid(len(x)) { }",
        "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x) * 2) { }",
        "kernel k(x: in u32[], y: out u32[len(x)], z: in u32[]) workgroup(64) grid(len(x)) { }"})
    EXPECT_TRUE(seen.insert(hash(other, 100)).second) << other;
  EXPECT_TRUE(seen.insert(hash(base, 101)).second);
  // Names and bodies are not layout.
  EXPECT_EQ(hash("kernel other(a: in u32[], b: out u32[len(a)]) workgroup(64) grid(len(a)) "
                 "{ shared t: u32[4]\n b[0] = a[0] + t[1] }",
                 100),
            hash(base, 100));
}

TEST(StagesOf, measures_the_calls_of_a_graph) {
  const Module m = parse(R"(
kernel double(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = 2 * x[global_id.x]
}
kernel add_all(x: in u32[], z: in u32[], s: inout u32[1], t: scratch u8[10]) workgroup(64) grid(len(x)) {
  shared u: u32[3]
  u[0] = u32(t[0])
  s[0] = x[0] + z[0] + u[0]
}
kernel ignore(x: in u32[], y: inout u32[]) workgroup(64) grid(len(x)) { y[0] = 1 }
graph g(x: in u32[], n: in u32[1], y: out u32[len(x)], s: inout u32[1]) {
  buffer t: u32[len(x)]
  call double(x, t)
  call double(t, y)
  call add_all(y, y, s)
  repeat 3 {
    call double(x, t)
    call double(t, y)
  }
  call ignore(t, y)
  call double(t, y) grid(n[0])
}
)");
  ASSERT_EQ(m.graphs.size(), 1u);
  const GraphShape shape = shape_of(
      m, {std::vector<std::byte>(400), std::vector<std::byte>(4), {}, std::vector<std::byte>(4)});
  const auto r = stages_of(m, m.graphs[0], shape);
  ASSERT_TRUE(r) << render(r.errors(), {});
  const Stages& s = *r;
  ASSERT_EQ(s.size(), 7u);
  const auto expect = [&](size_t i, uint64_t id, uint64_t input, uint64_t output, uint64_t scratch,
                          bool host) {
    EXPECT_EQ(s[i], (LaunchStage{id, s[i].layout_hash, input, output, scratch, host})) << i;
  };
  expect(0, 0, 400, 400, 0, false);
  expect(1, 1, 400, 400, 0, false);
  expect(2, 2, 400, 4, 22, false);  // `y` is bound twice and read once
  expect(3, 4, 400, 400, 0, true);  // across the border of a loop
  expect(4, 5, 400, 400, 0, false);
  expect(5, 7, 0, 400, 0, true);
  expect(6, 8, 400, 400, 0, true);  // a grid in device memory
  EXPECT_EQ(s[0].layout_hash, s[1].layout_hash);
  EXPECT_NE(s[1].layout_hash, s[2].layout_hash);

  LaunchGroupStorage storage;
  const auto p = plan_launch_groups(s, 1 << 20, storage);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->launches, 5u);
  EXPECT_EQ(p->avoided_bytes, 800u);
}

TEST(StagesOf, counts_an_updated_buffer_once) {
  const Module m = parse(R"(
kernel more(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] += x[global_id.x]
}
graph g(x: in u32[], y: inout u32[]) { call more(x, y) }
)");
  const GraphShape shape = shape_of(m, {std::vector<std::byte>(400), std::vector<std::byte>(400)});
  const auto r = stages_of(m, m.graphs[0], shape);
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ((*r)[0].input, 400u);
  EXPECT_EQ((*r)[0].output, 400u);
}

TEST(StagesOf, gives_the_error_of_a_call_that_cannot_run) {
  const Module m = parse(R"(
kernel k(n: u32, x: in u32[], y: inout u32[8 / n]) workgroup(64) grid(len(x)) { y[0] = x[0] }
graph g(x: in u32[], y: inout u32[]) { call k(0, x, y) }
)");
  const GraphShape shape = shape_of(m, {std::vector<std::byte>(400), std::vector<std::byte>(32)});
  const auto r = stages_of(m, m.graphs[0], shape);
  ASSERT_FALSE(r);
  EXPECT_NE(r.errors()[0].message.find("stage 1"), std::string::npos) << r.errors()[0].message;
}

}  // namespace
}  // namespace vyre::plan
