// Splitting at grid barriers: the values and effects that it must keep, one per test. Every kernel
// runs whole and split.

#include <algorithm>
#include <mutex>
#include <thread>

#include "support/file.h"
#include "tests/plan/split/split_util.h"
#include "wire/fingerprint.h"

namespace vyre::plan {
namespace {

using Kind = Step::Kind;

TEST(SplitGrid, a_program_without_a_barrier_is_its_own_segment) {
  const Program p = kernel(R"(kernel k(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    shared s: u32[8]
    s[local_id.x] = x[global_id.x]
    barrier workgroup
    y[global_id.x] = s[7 - local_id.x]
  })");
  const SplitPlan plan = split(p);
  EXPECT_FALSE(plan.is_split());
  ASSERT_EQ(plan.segments.size(), 1u);
  EXPECT_EQ(fingerprint(plan.segments[0]), fingerprint(p));
  same_split(p, plan, Inputs(p).set("x", counting(40)).inputs);
}

TEST(SplitGrid, n_barriers_make_one_segment_more) {
  const Program p = kernel(
      R"(kernel k(x: in u32[], t: scratch u32[len(x)], y: out u32[len(x)]) workgroup(8) grid(len(x)) op_id("five") {
    let i = global_id.x
    t[i] = x[i]
    barrier grid
    y[i] = t[len(t) - 1 - i]
    barrier grid
    t[i] = y[i] + 1
    barrier grid
    y[i] = y[i] + t[len(t) - 1 - i]
  })");
  const SplitPlan plan = split(p);
  EXPECT_EQ(plan.segments.size(), 4u);
  EXPECT_EQ(plan.cuts, 3u);
  EXPECT_EQ(count(plan, Kind::Launch), 4u);
  EXPECT_TRUE(plan.hidden.empty()) << print(plan, true);
  for (const Program& s : plan.segments) EXPECT_EQ(s.op_id, "five");
  same_split(p, plan, Inputs(p).set("x", counting(48, 3)).inputs);
}

TEST(SplitGrid, output_is_written_in_two_segments_and_read_between) {
  const Program p = kernel(R"(kernel k(y: out u32[64]) workgroup(8) grid(32) {
    let i = global_id.x
    y[i] = i * 3
    barrier grid
    y[32 + i] = y[31 - i] + 1
  })");
  const auto y = output<uint32_t>(p, same_split(p, split(p), {}), "y");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(y[i], i * 3);
    EXPECT_EQ(y[32 + i], (31 - i) * 3 + 1);
  }
}

TEST(SplitGrid, a_loaded_value_is_not_loaded_again) {
  const Program p =
      kernel(R"(kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    let i = global_id.x
    let before = x[i]
    barrier grid
    x[i] = 1000 + x[i]
    y[i] = before
  })");
  const SplitPlan plan = split(p);
  EXPECT_EQ(plan.hidden.size(), 1u);
  const auto out = same_split(p, plan, Inputs(p).set("x", counting(24, 5)).inputs);
  EXPECT_EQ(output<uint32_t>(p, out, "y"), counting(24, 5));
}

TEST(SplitGrid, an_atomic_counts_once) {
  const Program p =
      kernel(R"(kernel k(n: out u32[1], seen: out u32[40], y: out u32[40]) workgroup(8) grid(40) {
    let ticket = atomic_add(n[0], 1)
    barrier grid
    seen[ticket] = 1
    y[global_id.x] = n[0]
  })");
  const auto out = same_split(p, split(p), {});
  EXPECT_EQ(output<uint32_t>(p, out, "n"), U{40});
  EXPECT_EQ(output<uint32_t>(p, out, "seen"), U(40, 1));
  EXPECT_EQ(output<uint32_t>(p, out, "y"), U(40, 40));
}

TEST(SplitGrid, a_variable_assigned_in_a_loop_before) {
  const Program p = kernel(R"(kernel k(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    let i = global_id.x
    var sum: u32 = 0
    for j in 0..i % 5 { sum = sum + x[j] * (i + 1) }
    barrier grid
    y[i] = sum + i
  })");
  same_split(p, split(p), Inputs(p).set("x", counting(40, 9)).inputs);
}

TEST(SplitGrid, values_of_every_type_live_across) {
  const Program p = kernel(
      R"(kernel k(a: in i8[], b: in u16[], c: in i64[], d: in f32[], e: in f64[], g: in bool[], h: in f16[], u: in u64[],
      ya: out i8[len(a)], yb: out u16[len(a)], yc: out i64[len(a)], yd: out f32[len(a)], ye: out f64[len(a)], yg: out bool[len(a)], yh: out f16[len(a)], yu: out u64[len(a)])
      workgroup(4) grid(len(a)) {
    let i = global_id.x
    let va = a[i]
    let vb = b[i]
    let vc = c[i]
    let vd = d[i]
    let ve = e[i]
    let vg = g[i]
    let vh = h[i]
    let vu = u[i]
    barrier grid
    ya[i] = va
    yb[i] = vb
    yc[i] = vc
    yd[i] = vd
    ye[i] = ve
    yg[i] = vg
    yh[i] = vh
    yu[i] = vu
  })");
  const auto out = same_split(
      p, split(p),
      Inputs(p)
          .set("a", std::vector<int8_t>{-128, -1, 0, 127, 5, -7})
          .set("b", std::vector<uint16_t>{0, 1, 65535, 32768, 77, 3})
          .set("c", std::vector<int64_t>{-1, INT64_MIN, INT64_MAX, 1ll << 32, -(1ll << 33), 0})
          .set("d", U{0x80000000u, 0x7f800000u, 1u, 0x7fc00001u, 0x3f800000u, 0xff800000u})
          .set("e",
               std::vector<uint64_t>{1ull << 63, 0x7ff0000000000000u, 1, 0x7ff8000000000001u, 5, 6})
          .set("g", std::vector<uint8_t>{0, 1, 1, 0, 1, 0})
          .set("h", std::vector<uint16_t>{0x8000, 0x7c00, 1, 0x3c00, 0x7bff, 0xfc00})
          .set("u", std::vector<uint64_t>{~0ull, 1ull << 32, 1, 0, 42, 1ull << 63})
          .inputs);
  EXPECT_EQ(output<int64_t>(p, out, "yc"),
            (std::vector<int64_t>{-1, INT64_MIN, INT64_MAX, 1ll << 32, -(1ll << 33), 0}));
}

TEST(SplitGrid, pure_values_are_computed_again) {
  const Program p = kernel(R"(kernel k(n: u32, x: inout u32[]) workgroup(8) grid(len(x)) {
    let i = (global_id.x * 3 + n) % len(x)
    barrier grid
    x[i] = i + workgroup_id.x + num_workgroups.x
    barrier grid
    x[i] = x[i] * 2 + local_id.x
  })");
  const SplitPlan plan = split(p);
  EXPECT_TRUE(plan.hidden.empty()) << print(plan, true);
  EXPECT_EQ(plan.segments.size(), 2u) << "the first has no effect";
  same_split(p, plan, Inputs(p).set("n", U{5}).set("x", counting(40)).inputs);
}

TEST(SplitGrid, an_expensive_value_is_kept) {
  std::string chain = "var v: u32 = i\n";
  for (int k = 0; k < 50; ++k) chain += "v = v * 3 + " + std::to_string(k) + "\n";
  const Program p =
      kernel("kernel k(y: out u32[32]) workgroup(8) grid(32) {\nlet i = global_id.x\n" + chain +
             "barrier grid\ny[i] = v\n}");
  const SplitPlan plan = split(p);
  ASSERT_EQ(plan.hidden.size(), 1u);
  EXPECT_EQ(plan.hidden[0].per, 1u);
  same_split(p, plan, {});
}

TEST(SplitGrid, slots_are_shared_by_values_of_different_times) {
  const Program p = kernel(R"(kernel k(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    let i = global_id.x
    let a = x[i] * 3
    barrier grid
    y[i] = a
    barrier grid
    let b = x[i] + y[len(x) - 1 - i]
    barrier grid
    y[i] = b
  })");
  const SplitPlan plan = split(p);
  ASSERT_EQ(plan.hidden.size(), 1u);
  EXPECT_EQ(plan.hidden[0].per, 1u);
  same_split(p, plan, Inputs(p).set("x", counting(32, 1)).inputs);
}

TEST(SplitGrid, shared_memory_lives_across) {
  const Program p = kernel(
      R"(kernel k(x: in u32[], y: out u32[len(x)], z: out u32[len(x)]) workgroup(8) grid(len(x)) {
    shared s: u32[13]
    shared h: f16[8]
    shared unread: u32[100]
    let l = local_id.x
    s[l] = x[global_id.x]
    h[l] = 1.5
    unread[l] = 7
    barrier workgroup
    if l == 0 { s[12] = s[3] + 1 }
    barrier grid
    y[global_id.x] = s[7 - l] + s[12]
    barrier workgroup
    s[l] = s[l] + 1
    barrier grid
    z[global_id.x] = s[l] + u32(h[l] * 2.0)
  })");
  const SplitPlan plan = split(p);
  for (const HiddenBuffer& h : plan.hidden) {
    EXPECT_EQ(h.rate, HiddenBuffer::Rate::PerWorkgroup);
    EXPECT_EQ(h.per, h.element == Type::U32 ? 13u : 8u);
  }
  EXPECT_EQ(plan.hidden.size(), 2u) << print(plan);
  same_split(p, plan, Inputs(p).set("x", counting(40, 11)).inputs);
}

TEST(SplitGrid, private_arrays_live_across) {
  const Program p =
      kernel(R"(kernel k(x: in u32[], y: out u32[len(x)]) workgroup(4, 2) grid(len(x)) {
    var w: u8[5]
    let i = global_id.x + global_id.y * num_workgroups.x * 4
    for j in 0..5 { w[j] = u8(x[(i + j) % len(x)]) }
    barrier grid
    var sum: u32 = 0
    for j in 0..5 { sum = sum * 7 + u32(w[j]) }
    w[2] = 9
    barrier grid
    y[i] = sum + u32(w[2]) + u32(w[4])
  })");
  same_split(p, split(p), Inputs(p).set("x", counting(30, 100)).inputs);
}

TEST(SplitGrid, leading_trailing_and_doubled_barriers_launch_nothing) {
  const Program p = kernel(R"(kernel k(y: out u32[32]) workgroup(8) grid(32) {
    barrier grid
    barrier grid
    let i = global_id.x
    y[i] = i
    barrier grid
    barrier grid
    y[i] = y[i] + y[i] + 1
    barrier grid
  })");
  const SplitPlan plan = split(p);
  EXPECT_EQ(plan.segments.size(), 2u);
  EXPECT_EQ(count(plan, Kind::Launch), 2u);
  same_split(p, plan, {});
}

TEST(SplitGrid, nothing_but_barriers_launches_nothing) {
  const Program p =
      kernel("kernel k(y: out u32[4]) workgroup(8) grid(32) {\nbarrier grid\nbarrier grid\n}");
  const SplitPlan plan = split(p);
  EXPECT_EQ(plan.segments.size(), 0u);
  same_split(p, plan, {});
}

TEST(SplitGrid, a_barrier_in_nested_regions_opens_them_again) {
  const Program p = kernel(
      R"(kernel k(x: in u32[], t: scratch u32[len(x)], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    let i = global_id.x
    var kept: u32 = 0
    region "outer" {
      let a = x[i] + 1
      region "inner" {
        t[i] = a * 2
        barrier grid
        kept = t[len(x) - 1 - i] + a
      }
      barrier grid
      t[i] = kept
    }
    y[i] = kept
  })");
  const SplitPlan plan = split(p);
  ASSERT_EQ(plan.segments.size(), 3u);
  for (const auto& [segment, regions] : {std::pair{0, 2}, {1, 2}, {2, 1}}) {
    int found = 0;
    const Program& s = plan.segments[static_cast<size_t>(segment)];
    walk(s, [&](OpId op) { found += s.op(op).code == Opcode::Region; });
    EXPECT_EQ(found, regions) << print(s);
  }
  same_split(p, plan, Inputs(p).set("x", counting(40, 2)).inputs);
}

TEST(SplitGrid, values_stay_uniform_across) {
  const Program p = kernel(
      R"(kernel k(x: in u32[], t: scratch u32[len(x)], y: out u32[len(x)]) workgroup(8) subgroup(4) grid(len(x)) {
    shared s: u32[8]
    let i = global_id.x
    let of_group = x[workgroup_id.x]
    let of_subgroup = subgroup_add(x[i]) % 3
    t[i] = i
    barrier grid
    var v = t[len(x) - 1 - i]
    if of_group % 2 == 0 {
      s[local_id.x] = v
      barrier workgroup
      v = v + s[7 - local_id.x]
    }
    if of_subgroup == 1 { v = v + subgroup_scan_add(v) }
    y[i] = v + subgroup_broadcast(v, of_subgroup)
  })");
  same_split(p, split(p), Inputs(p).set("x", counting(48, 3)).inputs);
}

TEST(SplitGrid, grids_of_two_and_three_dimensions_with_partial_workgroups) {
  const Program p = kernel(
      R"(kernel k(w: u32, h: u32, t: scratch u32[4096], y: out u32[4096]) workgroup(4, 2, 3) grid(1) {
    shared s: u32[24]
    let x = global_id.x
    let z = global_id.z
    let at = (z * 16 + global_id.y) * 16 + x
    let mine = atomic_add(t[at], at + 1) + subgroup_add(x)
    s[local_id.x + local_id.y * 4 + local_id.z * 8] = at
    barrier grid
    y[at] = t[4095 - (4095 - at)] + mine * 3 + s[23 - (local_id.x + local_id.y * 4 + local_id.z * 8)]
  })");
  const SplitPlan plan = split(p);
  for (const auto& [a, b, c] : {std::array<uint64_t, 3>{7, 5, 4}, {1, 1, 1}, {16, 3, 1}, {0, 3, 1}})
    same_split(p, plan, Inputs(p).set("w", U{7}).set("h", U{5}).grid(a, b, c).inputs);
}

TEST(SplitGrid, a_large_grid) {
  const Program p =
      kernel(R"(kernel k(t: scratch u32[70000], y: out u32[70000]) workgroup(64) grid(70000) {
    let i = global_id.x
    let v = atomic_add(t[i], i)
    barrier grid
    y[i] = t[69999 - i] + v
  })");
  same_split(p, split(p), {});
}

TEST(SplitGrid, a_trap_names_its_segment_and_ends_the_run) {
  for (const char* where : {"0", "1", "2", "9"}) {
    const Program p = kernel(with(R"(kernel k(y: out u32[32]) workgroup(8) grid(32) {
      let i = global_id.x
      let where: u32 = WHERE
      y[i] = i
      assert(!(where == 0 && i > 4), 10 + i)
      barrier grid
      y[i] = y[31 - i]
      if where == 1 { if i % 7 == 6 { trap 20 } }
      barrier grid
      y[i] = 3
      assert(where != 2, 30)
    })",
                                  "WHERE", where));
    const SplitPlan plan = split(p);
    ASSERT_EQ(plan.segments.size(), 3u);
    same_split(p, plan, {});
    const auto result = run_split(p, plan, {});
    EXPECT_EQ(bool(result), where[0] == '9');
    if (result) continue;
    EXPECT_TRUE(result.errors()[0].message.starts_with(std::string("segment ") +
                                                       char(where[0] + 1) + " of 3: "))
        << result.errors()[0].message;
  }
}

TEST(SplitGrid, the_time_limit_is_for_the_whole) {
  for (const char* body :
       {"barrier grid", "y[0] = 1\nbarrier grid",
        "y[global_id.x] = 1\nbarrier grid\nif uniform_load(y[40], grid) == 1 { break }"}) {
    const Program p =
        kernel(std::string("kernel k(y: out u32[32]) workgroup(8) grid(32) {\nwhile true {\n") +
               body + "\n}\n}");
    interp::Options options;
    options.time_limit = 0.05;
    const auto result = run_split(p, split(p), {}, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.errors()[0].code, Code::TimeLimitExceeded);
  }
}

TEST(SplitGrid, too_many_buffers_is_an_error) {
  std::string params;
  for (int i = 0; i < 63; ++i) params += "b" + std::to_string(i) + ": in u32[], ";
  const Program p = kernel("kernel k(" + params +
                           "y: out u32[32]) workgroup(8) grid(32) {\nlet v = "
                           "b0[global_id.x]\nbarrier grid\ny[global_id.x] = v\n}");
  const auto plan = split_at_grid_barriers(p);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.errors()[0].code, Code::TooManyBuffers);
}

TEST(SplitGrid, a_divergent_return_before_a_barrier_is_the_checkers) {
  ParseOutcome parsed = parse(
      "kernel k(y: out u32[4]) workgroup(8) grid(8) {\nif global_id.x > 3 { return }\nbarrier "
      "grid\ny[0] = 1\n}");
  ASSERT_TRUE(parsed.module);
  EXPECT_TRUE(has_errors(check(parsed.module->kernels[0])));
}

/// The page shows kernels, each with the plan that it gets.
TEST(SplitGrid, the_page_shows_the_plans_that_are_made) {
  const FileContents page = read_file(VYRE_SOURCE_DIR "/docs/grid_barrier.md");
  ASSERT_TRUE(page);
  const auto block = [&](std::string_view tag, size_t& at) {
    const std::string open = "\n```" + std::string(tag) + "\n";
    const size_t begin = page.bytes.find(open, at);
    if (begin == std::string::npos) return std::string();
    at = page.bytes.find("```\n", begin + open.size());
    return std::string(page.bytes.substr(begin + open.size(), at - begin - open.size()));
  };
  int shown = 0;
  for (size_t at = 0;; ++shown) {
    const std::string program = block("vyre", at);
    if (program.empty()) break;
    EXPECT_EQ(print(split(kernel(program))), block("text", at));
  }
  EXPECT_EQ(shown, 4);
}

TEST(SplitGrid, the_same_plan_runs_twice) {
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\nlet v = x[len(x) - 1 - "
      "global_id.x]\nbarrier grid\nx[global_id.x] = v\n}");
  const SplitPlan plan = split(p);
  for (int i = 0; i < 2; ++i) {
    const auto out = same_split(p, plan, Inputs(p).set("x", counting(16)).inputs);
    U expected = counting(16);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(output<uint32_t>(p, out, "x"), expected);
  }
}

TEST(SplitGrid, two_launches_at_once) {
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\nlet v = x[len(x) - 1 - "
      "global_id.x]\nbarrier grid\nx[global_id.x] = v\n}");
  const SplitPlan plan = split(p);
  std::vector<std::thread> threads;
  std::vector<bool> same(2, false);
  std::mutex mutex;
  for (uint32_t n = 0; n < 2; ++n)
    threads.emplace_back([&, n] {
      const U x = counting(4000, n * 10);
      const auto out = run_split(p, plan, Inputs(p).set("x", x).inputs);
      U expected(x.rbegin(), x.rend());
      const std::lock_guard lock(mutex);
      same[n] = out && from_bytes<uint32_t>(out->buffers[0]) == expected;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(same[0] && same[1]);
}

}  // namespace
}  // namespace vyre::plan
