// Ifs and loops around grid barriers: decisions of the host, decisions of the device, and exits.

#include <algorithm>

#include "tests/plan/split/split_util.h"

namespace vyre::plan {
namespace {

using Kind = Step::Kind;

const char* const uniform_if =
    R"(kernel k(n: u32, x: in u32[], t: scratch u32[len(x)], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    let i = global_id.x
    var r: u32 = x[i]
    t[i] = r
    if CONDITION {
      t[i] = r * 2
      barrier grid
      r = t[len(x) - 1 - i]
      barrier grid
      r = r + x[0]
    } else {
      r = r + 100
      barrier grid
      t[i] = 5
    }
    y[i] = r + t[i]
  })";

TEST(SplitControl, a_uniform_if_that_the_host_decides) {
  const Program p = kernel(with(uniform_if, "CONDITION", "n > 3"));
  const SplitPlan plan = split(p);
  EXPECT_GE(count(plan, Kind::IfBegin), 1u) << print(plan);
  for (const uint32_t n : {3u, 4u})
    same_split(p, plan, Inputs(p).set("n", U{n}).set("x", counting(40, 2)).inputs);
}

TEST(SplitControl, a_uniform_if_that_depends_on_memory) {
  const Program p = kernel(with(uniform_if, "CONDITION", "x[n] > 10"));
  const SplitPlan plan = split(p);
  EXPECT_EQ(count(plan, Kind::IfBegin), 0u);
  for (const uint32_t n : {3u, 30u})
    same_split(p, plan, Inputs(p).set("n", U{n}).set("x", counting(40, 2)).inputs);
}

TEST(SplitControl, a_for_that_the_host_counts) {
  const Program p =
      kernel(R"(kernel k(n: u32, t: scratch u32[40], y: out u32[40]) workgroup(8) grid(len(y)) {
    let i = global_id.x
    var sum: u32 = 1
    t[i] = i
    for j in 1..n step 2 {
      barrier grid
      let m = t[len(y) - 1 - i] + j
      barrier grid
      t[i] = m + 1
      sum = sum * 3 + m
    }
    y[i] = sum
  })");
  const SplitPlan plan = split(p);
  EXPECT_EQ(count(plan, Kind::LoopBegin), 1u);
  for (const Step& s : plan.steps) {
    if (s.kind == Kind::LoopBegin) {
      EXPECT_NE(s.test, none);
    }
  }
  for (const uint32_t n : {0u, 1u, 2u, 9u}) same_split(p, plan, Inputs(p).set("n", U{n}).inputs);
}

TEST(SplitControl, counters_do_not_wrap) {
  for (const char* range :
       {"i8(100)..i8(127) step 50", "u8(250)..u8(255) step 4", "i8(-128)..i8(127) step 127",
        "i32(5)..i32(-5) step 1", "i32(0)..i32(4) step -1", "i64(-3)..i64(4) step 3"}) {
    const Program p = kernel(std::string("kernel k(t: scratch u32[16], y: out u32[16]) "
                                         "workgroup(4) grid(16) {\nvar s: u32 = 0\nfor j in ") +
                             range +
                             " {\nt[global_id.x] = u32(j) + s\nbarrier grid\ns = s * 5 + t[15 - "
                             "global_id.x]\nbarrier grid\n}\ny[global_id.x] = s\n}");
    same_split(p, split(p), {});
  }
}

TEST(SplitControl, a_while_that_the_host_counts) {
  const Program p = kernel(R"(kernel k(x: inout u32[], pad: u32) workgroup(8) grid(len(x)) {
    // Bitonic sort of a power of two.
    let i = global_id.x
    var size: u32 = 2
    while size <= len(x) {
      var stride = size >> 1
      while stride > 0 {
        let other = i ^ stride
        let a = x[i]
        let b = x[other]
        barrier grid
        let up = (i & size) == 0
        let lower = other > i
        x[i] = select(up == lower, min(a, b), max(a, b))
        barrier grid
        stride = stride >> 1
      }
      size = size << 1
    }
  })");
  const SplitPlan plan = split(p);
  for (const Step& s : plan.steps) {
    if (s.kind == Kind::LoopBegin) {
      EXPECT_NE(s.test, none) << print(plan);
    }
  }
  U x(64);
  for (uint32_t i = 0; i < 64; ++i) x[i] = i * 2654435761u;
  const auto out = same_split(p, plan, Inputs(p).set("x", x).set("pad", U{0}).inputs);
  std::sort(x.begin(), x.end());
  EXPECT_EQ(output<uint32_t>(p, out, "x"), x);
}

TEST(SplitControl, a_for_whose_bound_is_loaded) {
  const Program p =
      kernel(R"(kernel k(n: in u32[], t: scratch u32[40], y: out u32[40]) workgroup(8) grid(40) {
    let i = global_id.x
    var sum: u32 = 1
    for j in 0..n[0] {
      t[i] = sum + j
      barrier grid
      sum = sum + t[39 - i]
      barrier grid
    }
    y[i] = sum
  })");
  const SplitPlan plan = split(p);
  for (const Step& s : plan.steps) {
    if (s.kind == Kind::LoopBegin) {
      EXPECT_EQ(s.test, none);
    }
  }
  for (const uint32_t n : {0u, 1u, 2u, 3u, 11u})
    same_split(p, plan, Inputs(p).set("n", U{n}).inputs);
}

TEST(SplitControl, a_while_over_device_memory) {
  const Program p = kernel(
      R"(kernel k(flag: inout u32[1], sum: out u32[1], rounds: out u32[20]) workgroup(4) grid(20) {
    var r: u32 = 0
    while uniform_load(flag[0], grid) != 0 {
      if local_id.x == 0 { atomic_add(sum[0], 1) }
      barrier grid
      if global_id.x == 0 { if sum[0] > 22 { flag[0] = 0 } }
      r = r + 1
    }
    rounds[global_id.x] = r
  })");
  const SplitPlan plan = split(p);
  const auto out = same_split(p, plan, Inputs(p).set("flag", U{1}).inputs);
  EXPECT_EQ(output<uint32_t>(p, out, "sum"), U{25});
  EXPECT_EQ(output<uint32_t>(p, out, "rounds"), U(20, 5));
  same_split(p, plan, Inputs(p).set("flag", U{0}).inputs);
}

TEST(SplitControl, nested_device_loops) {
  const Program p =
      kernel(R"(kernel k(n: in u32[], t: scratch u32[24], y: out u32[24]) workgroup(8) grid(24) {
    let i = global_id.x
    var a: u32 = 0
    var sum: u32 = i
    while a < n[0] {
      var b: u32 = 0
      while b < n[1 + a] {
        t[i] = sum
        barrier grid
        sum = sum * 3 + t[23 - i] + a * b
        barrier grid
        b = b + 1
      }
      for c in 0..2 {
        barrier grid
        t[i] = sum + c
        barrier grid
        sum = sum + t[(i + 5) % 24]
        barrier grid
      }
      a = a + 1
    }
    y[i] = sum
  })");
  const SplitPlan plan = split(p);
  for (const U& n : {U{0, 1, 1, 1}, U{3, 0, 2, 5}, U{2, 4, 0, 9}})
    same_split(p, plan, Inputs(p).set("n", n).inputs);
}

TEST(SplitControl, a_loop_in_an_if_that_is_not_taken) {
  const Program p =
      kernel(R"(kernel k(n: in u32[], t: scratch u32[24], y: out u32[24]) workgroup(8) grid(24) {
    let i = global_id.x
    var sum: u32 = i
    for round in 0..n[1] {
      if n[0] > round {
        for j in 0..n[2] {
          t[i] = sum
          barrier grid
          sum = sum + t[23 - i] + j
          barrier grid
        }
        for j in 0..3 {
          t[i] = sum
          barrier grid
          sum = sum * 3 + t[23 - i] + j
          barrier grid
        }
      }
      sum = sum + 1
    }
    y[i] = sum
  })");
  const SplitPlan plan = split(p);
  for (const U& n : {U{0, 3, 2}, U{1, 3, 2}, U{9, 2, 0}, U{2, 5, 3}})
    same_split(p, plan, Inputs(p).set("n", n).inputs);
}

TEST(SplitControl, breaks_continues_and_returns) {
  const Program p =
      kernel(R"(kernel k(n: in u32[], t: scratch u32[24], y: out u32[24]) workgroup(8) grid(24) {
    let i = global_id.x
    var sum: u32 = i
    y[i] = 1
    if n[0] == 100 { return }
    for j in 0..10 {
      if j == n[0] { break }
      if j % 3 == n[1] {
        sum = sum + 7
        continue
      }
      t[i] = sum
      barrier grid
      sum = sum + t[23 - i] * (j + 1)
      if j == n[2] {
        y[i] = sum
        return
      }
      barrier grid
      if j == n[3] { sum = sum * 2
        break }
      sum = sum + 1
    }
    y[i] = sum * 2
    barrier grid
    y[i] = y[i] + t[23 - i]
    if i > 5 { return }
    y[i] = 77
  })");
  const SplitPlan plan = split(p);
  for (const U& n : {U{100, 9, 9, 9}, U{4, 9, 20, 20}, U{20, 1, 20, 20}, U{20, 0, 4, 20},
                     U{20, 2, 20, 3}, U{0, 0, 0, 0}, U{50, 50, 50, 50}})
    same_split(p, plan, Inputs(p).set("n", n).inputs);
}

TEST(SplitControl, a_return_that_only_some_take_after_the_last_barrier_of_an_if) {
  const Program p =
      kernel(R"(kernel k(n: in u32[], t: scratch u32[24], y: out u32[24]) workgroup(8) grid(24) {
    let i = global_id.x
    t[i] = i
    if n[0] > 2 {
      barrier grid
      for j in 0..i {
        if t[23 - i] + j == 30 {
          y[i] = 5
          return
        }
        if j == 20 { break }
      }
      if i % 3 == 0 { return }
      y[i] = t[23 - i]
    }
    y[i] = y[i] + 100
  })");
  const SplitPlan plan = split(p);
  for (const uint32_t n : {0u, 3u}) same_split(p, plan, Inputs(p).set("n", U{n}).inputs);
}

TEST(SplitControl, uniform_loads_of_the_grid) {
  const Program p =
      kernel(R"(kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
    shared s: u32[8]
    let i = global_id.x
    let a = uniform_load(x[3], grid)
    x[i] = a + i
    let b = uniform_load(x[5], grid)
    y[i] = b
    let c = uniform_load(x[6], grid)
    if c > 4 {
      s[local_id.x] = c + a
      barrier workgroup
      y[i] = y[i] + s[7 - local_id.x]
    }
    if subgroup_any(c == b) { y[i] = 0 }
  })");
  same_split(p, split(p), Inputs(p).set("x", counting(32, 1)).inputs);
}

}  // namespace
}  // namespace vyre::plan
