// The number of launches of typical programs: at most one more than the barriers that one
// invocation passes, if the host can count them.

#include <functional>

#include "plan/split/step_control.h"
#include "tests/plan/split/split_util.h"

namespace vyre::plan {
namespace {

/// The launches of a plan without loops that the device counts.
uint64_t count_launches(const Program& p, const SplitPlan& plan, const LaunchInputs& inputs) {
  const Result<LaunchShape> shape = resolve_launch(p, inputs);
  EXPECT_TRUE(shape) << render(shape.errors(), {});
  std::vector<uint64_t> scalars(p.buffers.size(), 0);
  for (size_t i = 0; i < p.buffers.size(); ++i)
    if (p.buffers[i].role == Role::Scalar)
      std::memcpy(&scalars[i], inputs.data[i]->data(), inputs.data[i]->size());
  StepControl control(plan, {&p, &*shape, scalars, 32});
  uint64_t launches = 0;
  for (;;) {
    const StepControl::Action action = control.next();
    if (action.kind == StepControl::Kind::Done) return launches;
    EXPECT_NE(action.kind, StepControl::Kind::Poll) << print(plan);
    if (action.kind == StepControl::Kind::Poll) return launches;
    launches += action.kind == StepControl::Kind::Launch;
  }
}

struct Case {
  const char* name;
  const char* source;  // parameters: scalar `n`, and buffers of `elements` elements
  uint32_t elements;
  std::vector<uint32_t> values;                // of `n`
  std::function<uint64_t(uint64_t)> barriers;  // that one invocation passes
  size_t kept_words = 0;                       // u32 words for each invocation
};

uint64_t log2_of(uint64_t n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

const Case cases[] = {
    {"bitonic sort",
     R"(kernel k(n: u32, x: inout u32[]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  var k: u32 = 2
  while k <= n {
    var j = k / 2
    while j > 0 {
      let p = i ^ j
      if p > i {
        let a = x[i]; let b = x[p]
        if ((i & k) == 0) == (a > b) { x[i] = b; x[p] = a }
      }
      barrier grid
      j = j / 2
    }
    k = k * 2
  }
})",
     512,
     {1, 2, 64, 512},
     [](uint64_t n) { return log2_of(n) * (log2_of(n) + 1) / 2; }},
    {"red-black with a carried sum",
     R"(kernel k(n: u32, u: inout f32[], moved: out f32[len(u)]) workgroup(64) grid(len(u)) {
  let i = global_id.x
  var sum: f32 = 0.0
  for r in 0..n {
    for color in 0..2 {
      if i % 2 == color && i > 0 && i + 1 < len(u) {
        let was = u[i]
        u[i] = (u[i - 1] + u[i + 1]) * 0.5
        sum += abs(u[i] - was)
      }
      barrier grid
    }
  }
  moved[i] = sum
})",
     150,
     {0, 1, 10},
     [](uint64_t n) { return 2 * n; },
     1},
    {"Jacobi that swaps two buffers by a flag",
     R"(kernel k(n: u32, a: inout f32[], b: inout f32[]) workgroup(32) grid(len(a)) {
  let i = global_id.x
  let left = (i + len(a) - 1) % len(a)
  let right = (i + 1) % len(a)
  var forward = true
  for round in 0..n {
    if forward { b[i] = (a[left] + a[right]) * 0.5 } else { a[i] = (b[left] + b[right]) * 0.5 }
    forward = !forward
    barrier grid
  }
  if !forward { a[i] = b[i] }
})",
     100,
     {0, 1, 7, 8},
     [](uint64_t n) { return n; }},
    {"prefix sum by doubling",
     R"(kernel k(n: u32, x: inout u32[]) workgroup(32) grid(len(x)) {
  let i = global_id.x
  var d: u32 = 1
  while d < n {
    var v = x[i]
    if i >= d { v += x[i - d] }
    barrier grid
    x[i] = v
    barrier grid
    d *= 2
  }
})",
     256,
     {0, 1, 2, 256},
     [](uint64_t n) { return 2 * log2_of(n); },
     1},
    {"Floyd-Warshall",
     R"(kernel k(n: u32, dist: inout u32[]) workgroup(8) grid(len(dist)) {
  let r = global_id.x / n
  let c = global_id.x % n
  for k in 0..n {
    if r < n {
      let through = dist[r * n + k] + dist[k * n + c]
      if through < dist[r * n + c] && r != k && c != k { dist[r * n + c] = through }
    }
    barrier grid
  }
})",
     64,
     {1, 4, 8},
     [](uint64_t n) { return n; }},
    {"LU elimination",
     R"(kernel k(n: u32, a: inout f32[]) workgroup(8) grid(len(a)) {
  let r = global_id.x / n
  let c = global_id.x % n
  for k in 0..n - 1 {
    if c == k && r > k { a[r * n + k] = a[r * n + k] / (a[k * n + k] + 7.0) }
    barrier grid
    if r > k && c > k { a[r * n + c] -= a[r * n + k] * a[k * n + c] }
    barrier grid
  }
})",
     64,
     {1, 2, 8},
     [](uint64_t n) { return 2 * (n - 1); }},
    {"phases with values live across and work on both sides of loops",
     R"(kernel k(n: u32, x: inout u32[], t: scratch u32[len(x)], y: out u32[len(x)]) workgroup(16) grid(len(x)) {
  let i = global_id.x
  let first = x[i] * 3
  var best = first
  y[i] = 1
  for round in 0..n {
    t[i] = best + round
    barrier grid
    best = max(best, t[(i + round + 1) % len(x)])
    y[i] += best
  }
  x[i] = best - first
  barrier grid
  y[i] += x[len(x) - 1 - i]
})",
     64,
     {0, 1, 5},
     [](uint64_t n) { return n + 1; },
     2},
    {"a stencil whose radius shrinks, with a remainder of work after the barrier",
     R"(kernel k(n: u32, x: inout u32[], sums: out u32[len(x)]) workgroup(16) grid(len(x)) {
  let i = global_id.x
  var radius = n
  while radius > 0 {
    let v = x[(i + radius) % len(x)] ^ radius
    barrier grid
    x[i] = v
    radius = radius - 1 - radius / 4
    sums[i] = sums[i] * 3 + v
    barrier grid
  }
})",
     48,
     {0, 1, 20},
     [](uint64_t n) {
       uint64_t trips = 0;
       for (uint64_t r = n; r > 0; r = r - 1 - r / 4) ++trips;
       return 2 * trips;
     },
     1},
    {"odd-even transposition",
     R"(kernel k(n: u32, x: inout u32[]) workgroup(16) grid(len(x)) {
  let i = global_id.x
  for phase in 0..n {
    let j = 2 * i + phase % 2
    if j + 1 < len(x) {
      let a = x[j]; let b = x[j + 1]
      x[j] = min(a, b); x[j + 1] = max(a, b)
    }
    barrier grid
  }
})",
     60,
     {0, 3, 60},
     [](uint64_t n) { return n; }},
};

TEST(SplitLaunches, plain_programs_take_at_most_one_launch_more_than_barriers) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Program p = kernel(c.source);
    const SplitPlan plan = split(p);
    for (const uint32_t n : c.values) {
      SCOPED_TRACE(n);
      Inputs inputs(p);
      inputs.set("n", U{n});
      for (const Buffer& b : p.buffers) {
        if (b.role != Role::InOut) continue;
        std::vector<float> floats(c.elements);
        U ints(c.elements);
        for (uint32_t i = 0; i < c.elements; ++i) {
          ints[i] = i * 2654435761u % 1000;
          floats[i] = static_cast<float>(ints[i]);
        }
        b.element == Type::F32 ? inputs.set(b.name, floats) : inputs.set(b.name, ints);
      }
      EXPECT_LE(count_launches(p, plan, inputs.inputs), c.barriers(n) + 1) << print(plan);
      same_split(p, plan, inputs.inputs);
    }
    uint64_t words = 0;
    for (const HiddenBuffer& h : plan.hidden)
      if (h.rate == HiddenBuffer::Rate::PerInvocation) words += h.per;
    EXPECT_EQ(words, c.kept_words) << print(plan, true);
  }
}

TEST(SplitLaunches, bitonic_sort_of_4096_takes_78_launches) {
  const Program p = kernel(cases[0].source);
  Inputs inputs(p);
  inputs.set("n", U{4096}).set("x", counting(4096));
  const SplitPlan plan = split(p);
  EXPECT_EQ(count_launches(p, plan, inputs.inputs), 78u) << print(plan);
  EXPECT_TRUE(plan.hidden.empty()) << print(plan);
}

}  // namespace
}  // namespace vyre::plan
