// Calls fused into one kernel: which calls are fused, and that results do not change.

#include <numeric>

#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {
namespace {

std::vector<float> floats(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = float(i) * 0.37f - 3.0f;
  return v;
}

const std::string chain = R"(
kernel scale(k: f32, x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = x[i] * k
}
kernel shift(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i >= len(x) { return }
  y[i] = x[i] + 1.5
}
kernel square(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i < len(x) { y[i] = x[i] * x[i] }
}
graph g(k: f32, x: in f32[], z: out f32[len(x)]) {
  buffer a: f32[len(x)]
  buffer b: f32[len(x)]
  call scale(k, x, a)
  call shift(a, b)
  call square(b, z)
}
)";

TEST(FuseGraph, joins_a_chain_and_its_buffers_vanish) {
  for (const size_t n : {1u, 63u, 64u, 65u, 255u, 256u, 257u, 5000u}) {
    GraphText t(chain);
    t.set("x", floats(n)).set("k", std::vector<float>{2.5f});
    const FusionPlan plan = t.plan();
    EXPECT_EQ(describe(t, plan), "scale +same_invocation shift +same_invocation square -a -b\n")
        << reasons(plan);
    const FusedGraph fused = same_fused(t, plan);
    EXPECT_EQ(calls_of(fused), 1u);
    EXPECT_EQ(fused.graph().buffers.size(), 3u);
    const Program& k = fused.module.kernels.at(0);
    for (const Buffer& b : k.buffers) EXPECT_NE(b.role, Role::Scratch);
    EXPECT_EQ(plan.avoided_launches, 2u);
    EXPECT_EQ(plan.avoided_bytes, 2u * 2 * n * 4);  // each stored and loaded, and not cleared
    if (HasFailure()) break;
  }
}

TEST(FuseGraph, nothing_to_launch_stays_as_it_is) {
  GraphText t(chain);
  t.set("x", floats(0)).set("k", std::vector<float>{2.5f});
  EXPECT_EQ(describe(t, t.plan()), "scale\nshift\nsquare\n");
  EXPECT_EQ(calls_of(same_fused(t)), 3u);
}

std::vector<uint8_t> bytes(size_t n) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = uint8_t(i * 37 + 11);
  return v;
}

TEST(FuseGraph, keeps_what_elements_round_and_cut) {
  const std::string text = R"(
kernel halve(x: in f32[], y: out f16[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 1.0009765
}
kernel flag(x: in f16[], y: out bool[len(x)], z: out u8[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = x[i] > 2.0
  z[i] = u8(x[i])
}
kernel pack(b: in bool[], x: in u8[], y: out u8[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = select(b[i], x[i] + 200, 7)
}
graph g(x: in f32[], z: out u8[len(x)]) {
  buffer h: f16[len(x)]
  buffer b: bool[len(x)]
  buffer u: u8[len(x)]
  call halve(x, h)
  call flag(h, b, u)
  call pack(b, u, z)
}
)";
  for (const size_t n : {1u, 64u, 300u}) {
    GraphText t(text);
    t.set("x", floats(n));
    EXPECT_EQ(describe(t, t.plan()), "halve +same_invocation flag +same_invocation pack -h -b -u\n")
        << reasons(t.plan());
    same_fused(t);
  }
}

TEST(FuseGraph, two_dimensions_with_guards_for_lanes_past_the_end) {
  const std::string text = R"(
kernel a(w: u32, h: u32, x: in u32[w * h], y: out u32[w * h]) workgroup(8, 8) grid(w, h) {
  let i = global_id.x
  let j = global_id.y
  if i >= w || j >= h { return }
  y[j * w + i] = x[j * w + i] * 3
}
kernel b(w: u32, h: u32, x: in u32[w * h], y: out u32[w * h]) workgroup(8, 8) grid(w, h) {
  let i = workgroup_id.x * 8 + local_id.x
  let j = global_id.y
  if i < w && j < h { y[i + w * j] = x[i + w * j] + 1 }
}
graph g(w: u32, h: u32, x: in u32[w * h], y: out u32[w * h]) {
  buffer t: u32[w * h]
  call a(w, h, x, t)
  call b(w, h, t, y)
}
)";
  for (const auto& [w, h] : {std::pair{16u, 8u}, {13u, 9u}, {1u, 40u}}) {
    GraphText t(text);
    std::vector<uint32_t> x(w * h);
    std::iota(x.begin(), x.end(), 5);
    t.set("x", x).set("w", std::vector<uint32_t>{w}).set("h", std::vector<uint32_t>{h});
    EXPECT_EQ(describe(t, t.plan()), "a +same_invocation b -t\n") << reasons(t.plan());
    same_fused(t);
  }
}

TEST(FuseGraph, rows_that_overlap_without_a_guard_are_not_joined) {
  const std::string text = R"(
kernel a(w: u32, x: in u32[], y: out u32[len(x)]) workgroup(8, 8) grid(w, len(x) / w) {
  y[global_id.y * w + global_id.x] = x[global_id.y * w + global_id.x] * 3
}
graph g(w: u32, x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call a(w, x, t)
  call a(w, t, y)
}
)";
  GraphText t(text);
  t.set("x", std::vector<uint32_t>(13 * 8, 3)).set("w", std::vector<uint32_t>{13});
  EXPECT_EQ(describe(t, t.plan()), "a\na\n");
  EXPECT_NE(reasons(t.plan()).find("an element of `t` may be used by several invocations"),
            std::string::npos);
  EXPECT_EQ(reasons(t.plan()).find("not confirmed"), std::string::npos);
  same_fused(t);
}

const std::string stencil = R"(
kernel prepare(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i < len(x) && x[i] > -1.0 { y[i] = x[i] * 2.0 + 1.0 }
}
kernel smooth(x: in f32[], y: out f32[len(x)]) workgroup(128) grid(len(x)) {
  let i = global_id.x
  y[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.25
}
kernel finish(x: inout f32[]) workgroup(128) grid(len(x)) {
  x[global_id.x] += 0.5
}
graph g(x: in f32[], y: out f32[len(x)]) {
  buffer t: f32[len(x)]
  call prepare(x, t)
  call smooth(t, y)
  call finish(y)
}
)";

TEST(FuseGraph, computes_where_a_stencil_loads) {
  for (const size_t n : {1u, 2u, 255u, 256u, 257u, 3000u}) {
    GraphText t(stencil);
    t.set("x", floats(n));
    FusionOptions options;
    options.costs.tile_ns = 1e6;  // a tile would be made otherwise
    const FusionPlan plan = t.plan(options);
    EXPECT_EQ(describe(t, plan), "prepare +recompute smooth +same_invocation finish -t\n")
        << reasons(plan);
    const FusedGraph fused = same_fused(t, plan);
    EXPECT_EQ(calls_of(fused), 1u);
    EXPECT_EQ(fused.graph().buffers.size(), 2u);
    same_fused(t);
  }
}

TEST(FuseGraph, an_indirect_load_computes_too_and_f16_rounds) {
  const std::string text = R"(
kernel prepare(x: in f32[], y: out f16[len(x) * 2 + 1]) workgroup(64) grid(len(x)) {
  if global_id.x % 3 == 0 { return }
  y[global_id.x * 2 + 1] = x[global_id.x] * 1.0009765
}
kernel pick(at: in i32[], x: in f16[], y: out f32[len(at)]) workgroup(32) grid(len(at)) {
  var sum: f32 = 0.0
  for k in 0..2 { sum += x[at[global_id.x] + i32(k)] }
  y[global_id.x] = sum + f32(len(x))
}
graph g(x: in f32[], at: in i32[], y: out f32[len(at)]) {
  buffer t: f16[len(x) * 2 + 1]
  call prepare(x, t)
  call pick(at, t, y)
}
)";
  GraphText t(text);
  std::vector<int32_t> at;
  for (int i = -3; i < 90; ++i) at.push_back((i * 7) % 95 - 5);
  t.set("x", floats(40)).set("at", at);
  EXPECT_EQ(describe(t, t.plan()), "prepare +recompute pick -t\n") << reasons(t.plan());
  same_fused(t);
}

TEST(FuseGraph, joins_what_shares_nothing_and_diamonds) {
  const std::string text = R"(
kernel twice(x: in u8[], y: out u8[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] * 2 }
kernel next(x: in u8[], y: out u8[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] + 1 }
kernel add(x: in u8[], y: in u8[], z: out u8[len(x)]) workgroup(64) grid(len(x)) {
  z[global_id.x] = x[global_id.x] ^ y[global_id.x]
}
graph g(x: in u8[], z: out u8[len(x)], s: out u8[len(x)]) {
  buffer a: u8[len(x)]
  buffer b: u8[len(x)]
  call twice(x, a)
  call next(x, b)
  call add(a, b, z)
  call next(b, s)
}
)";
  GraphText t(text);
  t.set("x", bytes(130));
  EXPECT_EQ(describe(t, t.plan()),
            "twice +independent next +same_invocation add +same_invocation next -a -b\n");
  EXPECT_EQ(calls_of(same_fused(t)), 1u);
}

TEST(FuseGraph, lanes_past_the_end_read_zeros_from_what_is_gone) {
  const std::string text = R"(
kernel ones(x: in f32[], y: out u32[len(x)], h: out f16[len(x) - 3]) workgroup(64) grid(len(x)) {
  y[global_id.x] = 1
  h[global_id.x] = 1.0
}
kernel count(x: in u32[], h: in f16[], n: inout u32[2]) workgroup(64) grid(len(x)) {
  if x[global_id.x] != 0 { atomic_add(n[0], 1) }
  if h[global_id.x] != 0.0 { atomic_add(n[1], len(h)) }
}
graph g(x: in f32[], n: inout u32[2]) {
  buffer t: u32[len(x)]
  buffer h: f16[len(x) - 3]
  call ones(x, t, h)
  call count(t, h, n)
}
)";
  GraphText t(text);
  t.set("x", floats(70)).set("n", std::vector<uint32_t>{0, 0});
  EXPECT_EQ(describe(t, t.plan()), "ones +same_invocation count -t -h\n") << reasons(t.plan());
  same_fused(t);
}

TEST(FuseGraph, a_buffer_used_again_as_out_begins_as_zeros_again) {
  const std::string text = R"(
kernel odd(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  if global_id.x % 2 == 1 { y[global_id.x] = x[global_id.x] + 1 }
}
kernel even(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  if global_id.x % 2 == 0 { y[global_id.x] = x[global_id.x] * 5 + 2 }
}
kernel both(x: in u32[], y: in u32[], z: out u32[len(x)]) workgroup(64) grid(len(x)) {
  z[global_id.x] = x[global_id.x] * 1000 + y[global_id.x]
}
graph g(x: in u32[], z: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call odd(x, a)
  call odd(a, b)
  call even(b, a)
  call odd(a, b)
  call both(a, b, z)
}
)";
  GraphText t(text);
  std::vector<uint32_t> x(100);
  std::iota(x.begin(), x.end(), 9);
  t.set("x", x);
  EXPECT_EQ(describe(t, t.plan()),
            "odd +same_invocation odd +same_invocation even +same_invocation odd +same_invocation "
            "both -a -b\n")
      << reasons(t.plan());
  same_fused(t);
}

TEST(FuseGraph, joins_inside_of_loops_but_never_across_their_ends) {
  const std::string text = R"(
kernel step(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] * 3 + 1 }
kernel back(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] ^ 5 }
kernel count(n: inout u32[1]) workgroup(64) grid(64) { if global_id.x == 0 { n[0] = n[0] - 1 } }
graph g(x: inout u32[], n: inout u32[1]) {
  buffer t: u32[len(x)]
  buffer o: u32[len(x)]
  call step(x, t)
  repeat 3 {
    call back(t, o)
    call step(o, x)
    call back(x, t)
  }
  while n[0] != 0 limit 10 {
    call back(t, o)
    call step(o, t)
    call count(n)
  }
  call step(t, o)
  call back(o, x)
}
)";
  GraphText t(text);
  std::vector<uint32_t> x(50);
  std::iota(x.begin(), x.end(), 1);
  t.set("x", x).set("n", std::vector<uint32_t>{4});
  const FusionPlan plan = t.plan();
  EXPECT_EQ(describe(t, plan),
            "step\n"
            "back +same_invocation step -o\nback\n"
            "back\nstep +independent count\n"
            "step +same_invocation back -o\n")
      << reasons(plan);
  EXPECT_NE(reasons(plan).find("`t` must be cleared before stage 6 `step`"), std::string::npos);
  const FusedGraph fused = same_fused(t, plan);
  EXPECT_EQ(fused.graph().buffers.size(), 4u);
}

TEST(FuseGraph, only_one_call_of_a_group_traps_and_it_is_named) {
  const std::string text = R"(
kernel check(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 77, 3)
  y[global_id.x] = x[global_id.x]
}
kernel step(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] * 7 }
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call step(x, a)
  call check(a, b)
  call check(b, y)
}
)";
  for (const uint32_t bad : {1000u, 11u}) {
    GraphText t(text);
    std::vector<uint32_t> x(90);
    std::iota(x.begin(), x.end(), 20);
    x[40] = bad;
    x[60] = bad;
    t.set("x", x);
    EXPECT_EQ(describe(t, t.plan()), "step +same_invocation check -a\ncheck\n");
    EXPECT_NE(reasons(t.plan()).find("both stage 2 `check` and stage 3 `check` may trap"),
              std::string::npos);
    const FusedGraph fused = same_fused(t);
    EXPECT_EQ(fused.origin[0].trapping, 1u);
    EXPECT_EQ(fused.origin[1].trapping, 2u);
  }
}

/// Two calls of different kernels over t, and why they are not one.
struct Refused {
  const char* first;
  const char* second;
  const char* why;
};

TEST(FuseGraph, says_why_calls_stay_apart) {
  const Refused list[] = {
      {"x: in u32[], t: out u32[len(x)]) workgroup(64) grid(len(x)) { t[global_id.x] = "
       "x[global_id.x] }",
       "t: in u32[], y: out u32[len(t)]) workgroup(32) grid(len(t)) { y[global_id.x] = "
       "t[global_id.x] }",
       ""},
      {"x: in u32[], t: out u32[len(x)]) workgroup(64) grid(len(x)) { t[global_id.x] = "
       "atomic_add(t[0], 1) }",
       "t: in u32[], y: out u32[len(t)]) workgroup(64) grid(len(t)) { y[global_id.x] = "
       "t[global_id.x] }",
       "accesses `t` by atomics"},
      {"x: in u32[], t: out u32[len(x)]) workgroup(64) grid(len(x)) { t[len(x) - 1 - global_id.x] "
       "= x[global_id.x] }",
       "t: in u32[], y: out u32[len(t)]) workgroup(64) grid(len(t)) { y[global_id.x] = "
       "t[global_id.x] }",
       "the index at which stage 1 `a` stores it is not a * global_id.x + b"},
      {"x: in u32[], t: out u32[len(x)]) workgroup(64) grid(len(x)) { t[global_id.x] = "
       "x[global_id.x] }",
       "t: in u32[], y: out u32[len(t)]) workgroup(64) grid(len(t)) { y[global_id.x] = "
       "t[global_id.x]\n barrier grid }",
       "has a grid barrier"},
      {"x: in u32[], t: out u32[len(x)]) workgroup(64) grid(len(x)) { for k in 0..1000 { "
       "t[global_id.x] = t[global_id.x] * 3 + x[global_id.x] } }",
       "t: in u32[], y: out u32[len(t)]) workgroup(64) grid(len(t)) { var s: u32 = 0\n for k in "
       "0..1000 { s += t[k] }\n y[global_id.x] = s }",
       "`t` cannot be tiled: `a` also loads `t`"},
  };
  for (const Refused& r : list) {
    GraphText t("kernel a(" + std::string(r.first) + "\nkernel b(" + r.second +
                "\ngraph g(x: in u32[], y: out u32[len(x)]) {\n  buffer t: u32[len(x)]\n  call "
                "a(x, t)\n  call b(t, y)\n}\n");
    std::vector<uint32_t> x(300);
    std::iota(x.begin(), x.end(), 1);
    t.set("x", x);
    const FusionPlan plan = t.plan();
    if (*r.why) {
      EXPECT_EQ(describe(t, plan), "a\nb\n") << r.first << r.second;
      EXPECT_NE(reasons(plan).find(r.why), std::string::npos) << reasons(plan);
    }
    same_fused(t, plan);
  }
}

}  // namespace
}  // namespace vyre::plan
