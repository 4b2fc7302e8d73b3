// Ranges, bounds, index forms, liveness and escape on small programs. The values under test are
// what the program stores into `y`, in the order of its stores; accesses under test are those of
// `x`. A scalar is an op wherever it is named, so the programs name it once.
#include "opt/analysis/ranges.h"

#include <gtest/gtest.h>

#include "ir/ssa_builder.h"
#include "opt/analysis/affine.h"
#include "opt/analysis/bounds.h"
#include "opt/analysis/effects.h"
#include "opt/analysis/escape.h"
#include "opt/analysis/liveness.h"
#include "tests/opt/program_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::opt {
namespace {

Program kernel(const std::string& body, const std::string& more = "") {
  return program_of("kernel k(x: in u32[], n: u32, m: i32, y: inout u32[]" + more +
                    ") workgroup(64) subgroup(32) grid(len(x)) {\n" + body + "\n}\n");
}

std::vector<OpId> stores_to(const Program& p, std::string_view buffer) {
  std::vector<OpId> list;
  walk(p, [&](OpId op) {
    if (p.op(op).code == Opcode::Store && p.buffer_of(op).name == buffer) list.push_back(op);
  });
  return list;
}

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

/// Returns the range of each value that is stored to y, at the store.
Pairs stored(const std::string& body, const std::string& more = "") {
  const Program p = kernel(body, more);
  const Ranges ranges(p);
  Pairs list;
  for (const OpId op : stores_to(p, "y")) {
    const ValueRange r = ranges.at(p.operand(op, 1), op);
    list.emplace_back(r.ulo(), r.uhi());
  }
  return list;
}

constexpr uint64_t top = 0xffffffff;

TEST(Ranges, ids_are_bounded_by_the_law_and_the_program) {
  EXPECT_EQ(stored(R"(
    y[0] = local_id.x
    y[0] = local_id.y
    y[0] = global_id.x
    y[0] = workgroup_id.x
    y[0] = workgroup_size.x
    y[0] = lane_id
    y[0] = num_workgroups.x)"),
            (Pairs{{0, 63},
                   {0, 0},
                   {0, (top / 64) * 64 - 1},
                   {0, top / 64 - 1},
                   {64, 64},
                   {0, 31},
                   {1, top / 64}}));
}

TEST(Ranges, conditions_narrow_in_their_arms_and_behind_exits) {
  EXPECT_EQ(stored(R"(
    let v = n
    if v < 10 { y[0] = v } else { y[0] = v }
    if v >= 3 && v <= 7 { y[0] = v }
    if v < 5 || v > 20 { return }
    y[0] = v
    assert(v != 5, 1)
    y[0] = v)"),
            (Pairs{{0, 9}, {10, top}, {3, 7}, {5, 20}, {6, 20}}));
}

TEST(Ranges, conditions_tell_of_what_they_were_made_of) {
  EXPECT_EQ(stored(R"(
    let i = n & 1023
    if i + 5 < 20 { y[0] = i }
    if i * 4 < 40 { y[0] = i }
    if i / 8 < 3 { y[0] = i }
    let after = i + 1
    if i < 9 { y[0] = after }
    if u64(i) < 6u64 { y[0] = i })"),
            (Pairs{{0, 14}, {0, 9}, {0, 23}, {1, 9}, {0, 5}}));
}

TEST(Ranges, counters_stay_inside_their_loop) {
  EXPECT_EQ(stored(R"(
    for i in 2..10 { y[0] = i }
    for i in 0..64 step 8 { y[0] = i }
    for i in 0..(n & 15) { y[0] = i })"),
            (Pairs{{2, 9}, {0, 56}, {0, 14}}));
}

TEST(Ranges, what_counts_towards_a_test_stops_there) {
  EXPECT_EQ(stored(R"(
    var i: u32 = 0
    while i < 100 { y[0] = i; i += 1 }
    y[0] = i
    var stride: u32 = 128
    while stride > 0 { y[0] = stride; stride = stride >> 1 })"),
            (Pairs{{0, 99}, {100, 100}, {1, 128}}));
}

TEST(Ranges, what_a_for_adds_to_is_bounded_by_its_iterations) {
  EXPECT_EQ(stored(R"(
    var sum: u32 = 5
    for i in 0..100 { if x[i] > 3 { sum += 4 } }
    y[0] = sum
    var down: u32 = 50
    for i in 0..10 { down -= 5 }
    y[0] = down)"),
            (Pairs{{5, 405}, {0, 50}}));
}

TEST(Ranges, wrapping_is_not_missed) {
  EXPECT_EQ(stored(R"(
    y[0] = n + 1
    y[0] = n - 1
    var i: u32 = 1
    while i != 0 { i = i * 2 }
    y[0] = i
    y[0] = (n & 7) - 8)"),
            (Pairs{{0, top}, {0, top}, {0, 0}, {top - 7, top}}));
}

TEST(Ranges, tables_and_narrow_elements_bound_loads) {
  const Program p = program_of(R"(
const T: u32[4] = [9, 4, 6, 12]
kernel k(b: in u8[], f: in bool[], n: u32, y: inout u32[]) workgroup(1) grid(1) {
  y[0] = u32(b[n])
  y[0] = u32(f[n])
  y[0] = T[n]
})");
  const Ranges ranges(p);
  std::vector<uint64_t> most;
  for (const OpId op : stores_to(p, "y")) most.push_back(ranges.of(p.operand(op, 1)).uhi());
  EXPECT_EQ(most, (std::vector<uint64_t>{255, 1, 12}));
}

// ---- Bounds.

/// Returns for each access to x whether it is proved to be in bounds.
std::vector<bool> proved(const Program& p) {
  const Ranges ranges(p);
  const BoundsFacts bounds(p, ranges);
  std::vector<bool> list;
  walk(p, [&](OpId op) {
    if (info(p.op(op).code).attribute == AttrKind::Memory && p.buffer_of(op).name == "x")
      list.push_back(bounds.proves_access(op));
  });
  return list;
}
using Flags = std::vector<bool>;

TEST(Bounds, a_grid_bounds_no_id) {
  EXPECT_EQ(proved(kernel("y[0] = x[global_id.x]")), (Flags{false}));
}

TEST(Bounds, a_test_against_the_length_is_enough) {
  EXPECT_EQ(proved(kernel(R"(
    let i = global_id.x
    if i < len(x) { y[0] = x[i] }
    if u64(i) < len64(x) { y[0] = x[i] }
    if i < min(len(x), n) { y[0] = x[i] }
    if i <= len(x) { y[0] = x[i] }
    if i < n { y[0] = x[i] }
    let v = n
    if i < v && v <= len(x) { y[0] = x[i] }
    if i >= len(x) { return }
    y[0] = x[i] + x[i / 2])")),
            (Flags{true, true, true, false, false, true, true, true}));
}

TEST(Bounds, neighbours_need_that_nothing_wraps) {
  EXPECT_EQ(proved(kernel(R"(
    let i = global_id.x
    if i + 1 < len(x) { y[0] = x[i] + x[i + 1] }
    let v = n
    if v + 1 < len(x) { y[0] = x[v] }
    if i > 0 && i < len(x) { y[0] = x[i - 1] }
    if i < len(x) { y[0] = x[i - 1] }
    if i < len(x) - 1 { y[0] = x[i + 1] }
    let l = len(x)
    if l > 0 { if i < l - 1 { y[0] = x[i + 1] } })")),
            (Flags{true, true, false, true, false, false, true}));
}

TEST(Bounds, loops_to_the_length_stay_inside) {
  EXPECT_EQ(proved(kernel(R"(
    for i in 0..len(x) { y[0] = x[i] }
    for i in 0..len(x) / 4 { y[0] = x[i * 4 + 3] + x[i * 4 + 4] }
    for i in 0..n { y[0] = x[i] })")),
            (Flags{true, true, false, false}));
}

TEST(Bounds, formulas_tell_which_lengths_are_enough) {
  const Program p = program_of(R"(
kernel k(a: in u32[], x: out u32[len(a)], y: out u32[ceil_div(len(a), 4)], z: out u32[max(len(a), 16)]) workgroup(8) grid(8) {
  let i = global_id.x
  if i < len(a) { x[i] = 1 }
  if i < len(y) { x[i] = 1 }
  if i < len(z) { x[i] = 1 }
  if i < ceil_div(len(a), 4) { y[i] = 1 }
  z[local_id.x] = x[0]
})");
  EXPECT_EQ(proved(p), (Flags{true, true, false, false}));
  const Ranges ranges(p);
  const BoundsFacts bounds(p, ranges);
  for (const std::string_view buffer : {"y", "z"})
    for (const OpId op : stores_to(p, buffer)) EXPECT_TRUE(bounds.proves_access(op)) << buffer;
  const BufferCounts& counts = ranges.rules().counts();
  EXPECT_TRUE(counts.count_is_at_most(BufferId(0), 0, BufferId(1)) &&
              counts.count_is_at_most(BufferId(1), 0, BufferId(0)));
  EXPECT_FALSE(counts.count_is_at_most(BufferId(0), 0, BufferId(2)));
}

// ---- Index forms.

TEST(Affine, distances_are_known_only_where_nothing_wraps) {
  const Program p = kernel(R"(
    let i = global_id.x
    let l = local_id.x
    y[4 * l] = 0
    y[4 * l + 3] = 0
    let v = n
    y[v] = 0
    y[v + 1] = 0
    y[i] = 0
    y[i + 1] = 0)");
  const Ranges ranges(p);
  const AffineForms forms(p, ranges);
  const std::vector<OpId> s = stores_to(p, "y");
  const auto index = [&](size_t i) { return p.operand(s[i], 0); };
  EXPECT_EQ(forms.distance(index(0), index(1)), 3);
  EXPECT_EQ(forms.distance(index(2), index(3)), std::nullopt) << "n + 1 may wrap";
  EXPECT_EQ(forms.distance(index(4), index(5)), 1);
  EXPECT_EQ(forms.of(index(3)).terms.size(), 1u);
  EXPECT_FALSE(forms.of(index(3)).exact);
}

// ---- Memory.

TEST(Liveness, counts_what_is_used_on_the_other_side) {
  const Program p = kernel(R"(
    let a = x[0]
    let b = x[1]
    let c = x[2]
    y[0] = a
    if n > 3 {
      barrier workgroup
      y[1] = b
    } else {
      y[2] = c
    })");
  const Liveness live(p);
  ASSERT_EQ(live.barriers().size(), 1u);
  std::vector<std::string> names;
  for (const ValueId v : live.across(live.barriers()[0]))
    names.push_back(std::string(mnemonic(p.op(p.values[v].def).code)));
  EXPECT_EQ(names, (std::vector<std::string>{"load"})) << "b alone";
}

TEST(Liveness, loops_come_back) {
  const Program p = kernel(R"(
    let a = x[0]
    for i in 0..n {
      y[1] = a
      barrier workgroup
    })");
  const Liveness live(p);
  // a, n and the counter.
  EXPECT_EQ(live.across(live.barriers()[0]).size(), 3u);
}

TEST(Escape, who_sees_a_buffer_and_who_reads_it) {
  const Program p = kernel(R"(
    shared t: u32[64]
    shared unread: u32[64]
    var w: u32[4]
    w[0] = 1
    unread[local_id.x] = 2
    t[local_id.x] = w[0]
    barrier workgroup
    y[0] = t[0])");
  const Escape e(p);
  const auto find = [&](std::string_view name) -> BufferId {
    for (const BufferId i : p.buffers.ids())
      if (p.buffers[i].name == name) return i;
    return none;
  };
  EXPECT_EQ(e.of(find("x")), Escape::Reach::Host);
  EXPECT_EQ(e.of(find("t")), Escape::Reach::Workgroup);
  EXPECT_EQ(e.of(find("w")), Escape::Reach::Invocation);
  EXPECT_TRUE(e.is_observed(find("t")));
  EXPECT_TRUE(e.is_observed(find("y")));
  EXPECT_FALSE(e.is_observed(find("unread")));
}

TEST(Effects, exits_leave_their_loop_or_more) {
  const Program p = kernel(R"(
    for i in 0..n {
      if x[i] == 3 { break }
      y[i] = 1
    }
    for i in 0..n {
      if x[i] == 3 { return }
    })");
  const Effects e(p);
  std::vector<bool> leaves;
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::For) return;
    leaves.push_back(e.of(op).leaves);
  });
  EXPECT_EQ(leaves, (Flags{false, true}));
}

// ---- Size.

/// Loops in a row, each starting from what the one before ended with: the worst case of rounds.
TEST(Ranges, many_loops_and_deep_nests_take_few_rounds) {
  SsaBuilder row("row"), nest("nest");
  const auto begin = [](SsaBuilder& b) { return b.declare(b.constant_u32(0)); };
  const auto count = [](SsaBuilder& b, VarId v) {
    b.begin_while();
    b.begin_body(
        b.op(Opcode::Lt, Type::U32, {b.get(v), b.op(Opcode::GlobalId, Type::Void, {}, 0)}));
    b.set(v, b.op(Opcode::Add, Type::U32, {b.get(v), b.constant_u32(3)}));
  };
  const VarId a = begin(row), c = begin(nest);
  for (int i = 0; i < 15'000; ++i) count(row, a), row.end_while();
  for (int i = 0; i < 900; ++i) count(nest, c);
  for (int i = 0; i < 900; ++i) nest.end_while();
  for (SsaBuilder* b : {&row, &nest}) {
    const Program p = b->finish();
    const double start = cpu_seconds();
    const Ranges ranges(p);
    EXPECT_LE(ranges.rounds(), 17u);
    EXPECT_LT(cpu_seconds() - start, 5) << p.ops.size() << " ops";
  }
}

}  // namespace
}  // namespace vyre::opt
