#include <fmt/format.h>

#include <cmath>
#include <random>

#include "tests/plan/fusion/handoff_util.h"

namespace vyre::plan {
namespace {

/// Twice each number, then something of the neighbours.
std::string doubled(const std::string& read, const std::string& element = "u32") {
  return "kernel make(x: in " + element + "[], t: out " + element +
         "[len(x)]) workgroup(8) grid(len(x)) {\n"
         "let i = global_id.x\n t[i] = x[i] + x[i] }\n"
         "kernel use(t: in " +
         element + "[], y: out " + element +
         "[len(t)]) workgroup(16) grid(len(t)) {\n"
         "let i = global_id.x\n let l = local_id.x\n let w = workgroup_id.x\n" +
         read + "\n}\n";
}

/// Fuses and compares for sizes around a tile of 16.
void expect_fuses(const HandoffPair& pair, uint32_t most = 200) {
  const JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  for (const uint32_t n : {0u, 1u, 15u, 16u, 17u, 31u, 33u, most}) {
    SCOPED_TRACE(n);
    HandoffRun run;
    run.set("x", counting(n, 3)).set("v", counting(n, 5));
    run.expect_same(pair, *o.joined);
  }
}

TEST(Handoff, the_buffer_is_gone_and_the_launch_is_the_consumers) {
  const HandoffPair pair(doubled("y[i] = t[i] + 1"));
  const JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  const Program& p = o.joined->program;
  EXPECT_EQ(p.name, "make_use");
  EXPECT_EQ(p.workgroup, pair.consumer.workgroup);
  for (const Buffer& b : p.buffers) EXPECT_TRUE(b.name != "t" || b.role == Role::Shared);
  EXPECT_EQ(o.joined->parameters.size(), 4u);  // count, groups, x, y
  expect_fuses(pair);
}

TEST(Handoff, the_window_is_that_of_the_indices) {
  HandoffWindow w = HandoffPair(doubled("y[i] = t[i]")).window();
  EXPECT_EQ(w.stride, 16);
  EXPECT_EQ(w.first, 0);
  EXPECT_EQ(w.last, 15);
  EXPECT_EQ(w.invocations, 16u);
  EXPECT_EQ(w.bytes, 64u);
  EXPECT_EQ(w.recomputed, 0);
  w = HandoffPair(doubled("y[i] = t[i - 2] + t[i + 3]")).window();
  EXPECT_EQ(w.first, -2);
  EXPECT_EQ(w.last, 18);
  EXPECT_EQ(w.invocations, 21u);
  EXPECT_NEAR(w.recomputed, 5.0 / 21, 1e-9);
  w = HandoffPair(doubled("var s: u32 = 0\n for j in sat_sub(i * 4, 3)..min(i * 4 + 4, len(t)) { s "
                          "+= t[j] }\n y[i] = s"))
          .window();
  EXPECT_EQ(w.stride, 64);
  EXPECT_EQ(w.first, -3);
  EXPECT_EQ(w.last, 63);
}

TEST(Handoff, halos_are_computed_again) {
  expect_fuses(HandoffPair(doubled("y[i] = t[i - 1] + t[i] * 3 + t[i + 1]")));
  expect_fuses(HandoffPair(doubled("y[i] = t[i + 40] ^ t[i - 40]")));
  expect_fuses(HandoffPair(doubled("y[i] = t[w * 16 + (l ^ 5)] + t[w * 16 + 15 - l]")));
}

// An index that wraps below zero is out of bounds, and so gives 0; a window has it at its front.
TEST(Handoff, what_wraps_below_zero_is_zero) {
  const HandoffPair pair(doubled("y[i] = t[i - 3] + 7 * t[i - 1]"));
  const JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  EXPECT_EQ(o.joined->limits.size(), 3u);  // a buffer of 2^32 elements would have them
  expect_fuses(pair);
  // Signed numbers are not wrapped at all.
  expect_fuses(HandoffPair(doubled("y[i] = t[i32(i) - 3]")));
  expect_fuses(HandoffPair(doubled("y[i] = t[i64(i) - 3] + t[u64(i) + 1]")));
}

TEST(Handoff, lengths_and_guards_are_those_of_the_buffer) {
  expect_fuses(HandoffPair(doubled("if i < len(t) { y[i] = t[i] + len(t) }")));
  expect_fuses(HandoffPair(doubled("if u64(i) + 1 < len64(t) { y[i] = t[i + 1] + 1 }")));
}

TEST(Handoff, chunks_are_scanned_with_a_warm_up) {
  const std::string scan =
      "let begin = i * 4\n"
      "var s: u32 = 1\n"
      "for j in sat_sub(begin, 3)..min(begin + 4, len(t)) {\n"
      "  s = s * 31 + t[j]\n"
      "  if j >= begin { y[j] = s }\n"
      "}";
  expect_fuses(HandoffPair(doubled(scan)));
  const std::string with_if =
      "if i < ceil_div(len(t), 4) {\n let begin = i * 4\n var from = begin\n"
      "if begin >= 3 { from = begin - 3 }\n var s: u32 = 1\n"
      "for j in from..min(begin + 4, len(t)) { s = s * 31 + t[j]\n if j >= begin { y[j] = s } }\n}";
  expect_fuses(HandoffPair(doubled(with_if)));
  // Backwards bounds of the loop by rounding down.
  expect_fuses(
      HandoffPair(doubled("var s: u32 = 0\n for j in i / 4 * 4..i + 1 { s += t[j] }\n y[i] = s")));
  expect_fuses(HandoffPair(doubled("let g = i & ~3u32\n y[i] = t[g] + t[g + 3]")));
}

std::string producer(const std::string& body, const std::string& read = "y[i] = t[i] + t[i + 1]",
                     const std::string& more = "", const std::string& length = "len(x)",
                     const std::string& grid = "len(x)") {
  return "kernel make(x: in u32[], t: out u32[" + length + "]" + more + ") workgroup(8) grid(" +
         grid + ") {\nlet i = global_id.x\n" + body +
         "\n}\nkernel use(t: in u32[], y: out u32[len(t)]) workgroup(16) grid(len(t)) {\n"
         "let i = global_id.x\n" +
         read + "\n}\n";
}

TEST(Handoff, the_producer_writes_several_elements) {
  expect_fuses(HandoffPair(producer("for j in 0..3 { t[i * 3 + j] = x[i] * 4 + j }",
                                    "y[i] = t[i] + t[i + 1] * 5", "", "len(x) * 3")));
  expect_fuses(HandoffPair(producer("t[i * 2] = x[i]\n t[i * 2 + 1] = ~x[i]",
                                    "y[i] = t[i - 1] ^ t[i + 2]", "", "len(x) * 2")));
  // Fewer elements than its invocations would write: writes past the end are dropped.
  expect_fuses(HandoffPair(producer("for j in 0..3 { t[i * 3 + j] = i * 4 + j }",
                                    "y[i] = t[i] + t[i + 1] * 5", "", "(len(x) * 3 + 1) / 2")));
  // Unwritten elements are zeros.
  expect_fuses(
      HandoffPair(producer("t[i * 3 + 1] = i", "y[i] = t[i] + t[i + 1] * 5", "", "len(x) * 4")));
  expect_fuses(HandoffPair(producer("t[i - 2] = i", "y[i] = t[i] + t[i - 1] * 5")));
  expect_fuses(HandoffPair(producer("t[i + 5] = i", "y[i] = t[i] + t[i - 1] * 5")));
}

// The consumer reads every second element of what the producer writes five at a time: a window
// begins in the middle of what an invocation writes.
TEST(Handoff, windows_need_not_begin_with_an_invocation) {
  for (const char* read :
       {"y[i] = t[i * 3] + t[i * 3 + 1]", "y[i] = t[i * 3 - 7]", "y[i] = t[i * 7 + 11]"})
    expect_fuses(HandoffPair(
        producer("for j in 0..5 { t[i * 5 + j] = x[i] * 8 + j }", read, "", "len(x) * 5")));
}

TEST(Handoff, fewer_invocations_than_elements) {
  expect_fuses(HandoffPair(
      producer("t[i] = x[i] + 1", "y[i] = t[i] + t[i + 1]", "", "len(x)", "len(x) / 2")));
}

TEST(Handoff, the_producers_ids_are_its_own) {
  expect_fuses(
      HandoffPair(producer("t[workgroup_id.x * workgroup_size.x + local_id.x] = local_id.x + 100 * "
                           "workgroup_id.x + 10000 * "
                           "num_workgroups.x + global_id.y + 7 * num_workgroups.y + local_id.z")));
}

TEST(Handoff, private_arrays_are_zero_for_each_invocation) {
  expect_fuses(
      HandoffPair(producer("var a: u32[5]\n a[x[i] % 5] += x[i]\n a[i % 5] += 1\n"
                           "t[i] = a[0] + 10 * a[1] + 100 * a[2] + 1000 * a[3] + 10000 * a[4]",
                           "y[i] = t[i] + t[i + 33]")));
}

TEST(Handoff, returns_end_the_invocation_alone) {
  expect_fuses(HandoffPair(producer("if x[i] % 3 == 0 { return }\n t[i] = x[i]")));
  expect_fuses(
      HandoffPair(producer("t[i] = 7\n for j in 0..x[i] % 7 {\n t[i] = j\n if j == 3 { return }\n "
                           "}\n t[i] = 1000 + x[i]")));
  expect_fuses(
      HandoffPair(producer("var k: u32 = 0\n while k < 9 {\n if k == x[i] % 11 {\n if i % 2 == 0 { "
                           "return }\n t[i] = k\n }\n k += 1\n }\n"
                           "if x[i] % 5 == 0 { t[i] = 99\n return }\n t[i] = k")));
}

TEST(Handoff, elements_make_their_round_trip) {
  for (const char* type : {"u8", "i8", "u16", "i16", "i64", "u64"}) {
    SCOPED_TRACE(type);
    const HandoffPair pair(doubled("y[i] = t[i] + t[i + 1]", type));
    const JoinOutcome o = pair.fuse();
    ASSERT_TRUE(o.joined) << o.why_not;
    for (const uint32_t n : {0, 1, 15, 16, 17, 100}) {
      std::vector<uint8_t> x(n * size_of(*find_type(type)));
      for (size_t k = 0; k < x.size(); ++k) x[k] = uint8_t(k * 89 + 7);
      HandoffRun().set("x", x).expect_same(pair, *o.joined);
    }
  }
  // A value is rounded to f16 on its way, and a bool is 0 or 1.
  const HandoffPair half(
      "kernel make(x: in f32[], t: out f16[len(x)]) workgroup(8) grid(len(x)) {\n"
      "t[global_id.x] = x[global_id.x] * 1.001 }\n"
      "kernel use(t: in f16[], y: out f32[len(t)]) workgroup(16) grid(len(t)) {\n"
      "y[global_id.x] = t[global_id.x] + t[global_id.x - 1] }\n");
  const HandoffPair truth(
      "kernel make(x: in f32[], t: out bool[len(x)]) workgroup(8) grid(len(x)) {\n"
      "t[global_id.x] = x[global_id.x] > 0.5 }\n"
      "kernel use(t: in bool[], y: out f32[len(t)]) workgroup(16) grid(len(t)) {\n"
      "y[global_id.x] = select(t[global_id.x], 2.0, 3.0) }\n");
  for (const HandoffPair* pair : {&half, &truth}) {
    const JoinOutcome o = pair->fuse();
    ASSERT_TRUE(o.joined) << o.why_not;
    std::vector<float> x(50);
    for (size_t k = 0; k < x.size(); ++k) x[k] = float(k) / 37.0f;
    x[7] = NAN, x[8] = INFINITY, x[9] = -0.0f, x[10] = 1e-6f, x[11] = 70000;
    HandoffRun().set("x", x).expect_same(*pair, *o.joined);
  }
}

TEST(Handoff, names_scratch_and_tables_of_both_stay_apart) {
  expect_fuses(
      HandoffPair("const A: u32[3] = [5, 6, 7]\nconst B: u32[2] = [1, 2]\n"
                  "kernel make(x: in u32[], t: out u32[len(x)]) workgroup(8) grid(len(x)) {\n"
                  "let i = global_id.x\n t[i] = x[i] + A[i % 4] }\n"
                  "kernel use(x: in u32[], t: in u32[len(x)], s: scratch u32[len(t)], y: out "
                  "u32[len(t)]) workgroup(16) grid(len(x)) {\n"
                  "shared tile: u32[16]\n let i = global_id.x\n tile[local_id.x] = t[i] * B[i % "
                  "2]\n s[i] = x[i]\n barrier workgroup\n"
                  "y[i] = tile[15 - local_id.x] + s[i] }\n"));
}

TEST(Handoff, a_workgroup_of_several_rows_shares_the_work) {
  const HandoffPair pair(
      "kernel make(x: in u32[], t: out u32[len(x)]) workgroup(8) grid(len(x)) {\n"
      "t[global_id.x] = x[global_id.x] * 3 }\n"
      "kernel use(t: in u32[], y: out u32[len(t)]) workgroup(4, 2, 2) grid(ceil_div(len(t), 4)) {\n"
      "let row = local_id.y * 4 + local_id.z * 8\n let at = workgroup_id.x * 16 + row + "
      "local_id.x\n"
      "if at < len(t) { y[at] = t[at] + t[at - 1] }\n}\n");
  expect_fuses(pair);
}

TEST(Handoff, windows_may_leave_gaps_and_be_the_same_for_all) {
  expect_fuses(HandoffPair(doubled("y[i] = t[w * 40 + l]")));
  const HandoffPair whole(doubled("y[i] = t[l * 3]"));
  EXPECT_EQ(whole.window().stride, 0);
  EXPECT_GT(whole.window().recomputed, 0.9);
  expect_fuses(whole);
}

// Bytes of the window, to the element.
TEST(Handoff, the_budget_is_exact) {
  const HandoffPair fits(
      doubled("var s: u32 = 0\n for j in 0..4081 { s += t[w * 16 + l + j] }\n y[i] = s"));
  EXPECT_EQ(fits.window().elements, 4096u);
  EXPECT_EQ(fits.why_not(), "");
  const HandoffPair too_large(
      doubled("var s: u32 = 0\n for j in 0..4082 { s += t[w * 16 + l + j] }\n y[i] = s"));
  EXPECT_EQ(too_large.why_not(),
            "a tile of 4097 elements of `t` has 16388 bytes, and the limit is 16384");
  EXPECT_EQ(too_large.why_not(16388), "");
}

TEST(Handoff, refuses_what_it_cannot_prove_and_says_why) {
  const auto why = [](const std::string& text) { return HandoffPair(text).why_not(); };
  EXPECT_EQ(why(doubled("y[i] = t[t[i]]")),
            "the index of `t` in `use` (line 8) has no bounds in its workgroup");
  EXPECT_EQ(why(doubled("y[i] = t[len(t) - 1 - i]")),
            "the index of `t` in `use` (line 8) has no bounds in its workgroup");
  EXPECT_EQ(why(doubled("y[i] = t[100 - i]")),
            "the index of `t` in `use` (line 8) decreases from workgroup to workgroup");
  EXPECT_EQ(why(doubled("y[i] = t[i] + t[i * 2]")),
            "the index of `t` in `use` (line 8) advances by 32 per workgroup, another one by 16");
  EXPECT_EQ(why(doubled("y[i] = t[i]\n barrier grid\n y[i] += 1")), "`use` has a grid barrier");
  EXPECT_EQ(why(doubled("y[i] = 1")), "`use` never loads `t`");
  EXPECT_EQ(why(producer("t[x[i]] = 1")),
            "the index of `t` in `make` (line 3) does not grow with global_id.x");
  EXPECT_EQ(why(producer("t[i % 8] = 1")),
            "the index of `t` in `make` (line 3) does not grow with global_id.x");
  EXPECT_EQ(why(producer("t[5] = i")),
            "the index of `t` in `make` (line 3) does not grow with global_id.x");
  EXPECT_EQ(why(producer("t[i] = 1\n t[i * 2] = 2")),
            "the index of `t` in `make` (line 4) advances by 2 per invocation, another one by 1");
  EXPECT_EQ(why(producer("t[i] = 1\n t[i] += 2")), "`make` also loads `t`");
  EXPECT_EQ(why(producer("atomic_add(t[i], 2)")), "`make` has an atomic");
  EXPECT_EQ(why(producer("t[i] = 1\n barrier workgroup")), "`make` has a barrier");
  EXPECT_EQ(why(producer("t[i] = 1\n assert(i < 5, 3)")), "`make` may trap");
  EXPECT_EQ(why(producer("t[i] = subgroup_add(i)")),
            "`make` has subgroup operation `subgroup_add`");
  EXPECT_EQ(why(producer("t[i] = lane_id")), "`make` has subgroup operation `lane_id`");
  EXPECT_EQ(why(producer("let z = i")), "`make` never stores `t`");
  EXPECT_EQ(why(producer("t[i] = i\n v[i] = 1", "y[i] = t[i]", ", v: out u32[len(x)]")),
            "`make` also writes `v`");
  EXPECT_EQ(why(producer("shared s: u32[8]\n s[local_id.x] = 1\n t[i] = s[local_id.x]")),
            "`make` has shared memory `s`");
  EXPECT_EQ(why(with(producer("t[i] = i"), "t: out", "t: inout")),
            "`make` takes `t` as inout, and a tile needs `out`");
  EXPECT_EQ(why(with(producer("t[i] = i"), "grid(len(x))", "grid(len(x), 2)")),
            "the launch of `make` has more than one dimension");
  EXPECT_EQ(why(with(producer("t[i] = 1"), "t: in u32[]", "t: inout u32[]")),
            "`use` takes `t` as inout, and a tile needs `in`");
}

// Limits: beyond them indices wrap, and results would differ from the kernels'.
TEST(Handoff, limits_keep_indices_below_two_to_the_31) {
  const HandoffPair pair(doubled("y[i] = t[i * 16]"));
  const JoinOutcome o = pair.fuse();
  ASSERT_TRUE(o.joined) << o.why_not;
  using Kind = JoinedParameter::Kind;
  ASSERT_EQ(o.joined->limits.size(), 2u);
  EXPECT_EQ(o.joined->limits[0].of, (JoinedParameter{Kind::NumWorkgroups, 0, 0}));
  EXPECT_EQ(o.joined->limits[1].of, (JoinedParameter{Kind::NumWorkgroups, 1, 0}));
  EXPECT_LE(o.joined->limits[1].most * 256, uint64_t{1} << 31);
  EXPECT_GE(o.joined->limits[1].most * 256, uint64_t{1} << 30);
}

// Random pairs: strides, offsets, lengths and grids that fit together badly.
TEST(Handoff, random_pairs_give_the_same_bytes) {
  std::mt19937 random(2024);
  const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
  for (int round = 0; round < 120; ++round) {
    const uint32_t a = 1 + pick(6), k = 1 + pick(5), width = 1 + pick(7);
    // Named in order: the evaluation order of arguments is unspecified.
    const uint32_t divisor = 1 + pick(3);
    const std::string length = fmt::format("(len(x) * {} + {}) / {}", a, pick(9), divisor);
    const std::string make = fmt::format(
        "for j in 0..{} {{ if (x[i] + j) % 5 != 0 {{ t[i * {} + j + {}] = x[i] * 16 + j }} }}\n",
        width > a ? a : width, a, pick(5));
    const int shift = int(pick(40)) - 20;
    const std::string read = fmt::format(
        "var s: u32 = i\n for j in 0..{} {{ s = s * 33 + t[i * {} + j {} {}] }}\n y[i] = s",
        1 + pick(4), k, shift < 0 ? "-" : "+", std::abs(shift));
    const std::string text = producer(make, read, "", length, fmt::format("len(x) + {}", pick(20)));
    SCOPED_TRACE(text);
    const HandoffPair pair(text);
    const JoinOutcome o = pair.fuse();
    ASSERT_TRUE(o.joined) << o.why_not;
    for (const uint32_t n : {0u, 1u, pick(50), 40 + pick(100)})
      HandoffRun().set("x", counting(n, pick(100))).expect_same(pair, *o.joined);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace vyre::plan
