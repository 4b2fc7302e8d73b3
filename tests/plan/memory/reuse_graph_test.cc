// Scratch reuse of real graphs: the accesses that are derived from their kernels, and plans
// replayed against every access of the interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "plan/memory/check_reuse.h"
#include "tests/plan/memory/reuse_replay_util.h"
#include "tools/vyre/program_file.h"

namespace vyre::plan {
namespace {

struct Loaded {
  Module module;
  interp::GraphInputs inputs;
  GraphShape shape;
  ReuseInput input;
  const Graph& graph() const { return module.graphs[0]; }
  GraphBufferId buffer(std::string_view name) const {
    for (const GraphBufferId b : graph().buffers.ids())
      if (graph().buffers[b].name == name) return b;
    ADD_FAILURE() << name;
    return GraphBufferId(0);
  }
};

/// Host buffers get `bytes` bytes each; scalars are `scalar`.
Loaded load(const std::string& text, size_t bytes = 256, uint8_t scalar = 2) {
  Loaded l;
  const auto loaded = cli::load_module_bytes(text, "test");
  EXPECT_TRUE(loaded.module) << render(loaded.diagnostics, loaded.sources);
  if (!loaded.module) return l;
  l.module = *loaded.module;
  const Graph& g = l.graph();
  l.inputs.data.resize(g.buffers.size());
  for (size_t b = 0; b < g.buffers.size(); ++b) {
    if (g.buffers[b].role == Role::Scalar) {
      l.inputs.data[b].emplace(size_of(g.buffers[b].element));
      (*l.inputs.data[b])[0] = std::byte{scalar};
    } else if (g.buffers[b].parameter && is_host_input(g.buffers[b].role)) {
      l.inputs.data[b].emplace(bytes, std::byte{1});
    }
  }
  const auto shape = resolve_graph(g, l.inputs.data, {}, 0);
  EXPECT_TRUE(shape) << (shape ? "" : render(shape.errors(), {}));
  if (!shape) return l;
  l.shape = *shape;
  l.input = reuse_input(l.module, g, l.shape);
  return l;
}

Result<ReuseReplay> replay(const Loaded& l, const ReusePlan& plan) {
  return replay_reuse(l.module, l.graph(), l.inputs, l.input, plan);
}

ReuseReplay expect_right(const Loaded& l, const ReusePlan& plan) {
  const auto checked = check_reuse(l.input, plan);
  EXPECT_TRUE(checked) << render(checked.errors(), {});
  const auto replayed = replay(l, plan);
  EXPECT_TRUE(replayed) << render(replayed.errors(), {});
  return replayed ? *replayed : ReuseReplay{};
}

const char* kernels = R"(
kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(16) grid(len(x)) {
  y[global_id.x] = 2 * x[global_id.x]
}
kernel evens(x: in u32[], y: inout u32[]) workgroup(16) grid(len(x)) {
  if global_id.x % 2 == 0 { y[global_id.x] = x[global_id.x] + 1 }
}
kernel add(x: in u32[], y: inout u32[]) workgroup(16) grid(len(x)) { y[global_id.x] += x[global_id.x] }
kernel narrow(x: in u32[], y: out u8[len(x)]) workgroup(16) grid(len(x)) {
  y[i32(global_id.x) - 1] = u8(x[global_id.x])
}
kernel words(x: in u8[], y: out u32[len(x)]) workgroup(16) grid(len(x)) {
  y[global_id.x] = load_as<u32>(x, global_id.x)
}
kernel count(x: in u32[], n: inout u32[]) workgroup(16) grid(len(x)) {
  if x[global_id.x] > 0 { atomic_add(n[0], 1) }
}
kernel ignore(x: in u32[], y: out u32[len(x)]) workgroup(16) grid(len(y)) { y[global_id.x] = 7 }
kernel down(n: inout u32[]) workgroup(1) grid(1) { n[0] -= 1 }
)";

TEST(ReuseInput, is_read_from_the_kernels) {
  const Loaded l = load(std::string(kernels) + R"(
graph g(x: in u32[], k: u32, y: inout u32[]) {
  buffer t: u32[len(x)]
  buffer n: u32[1]
  buffer f: u32[1]
  buffer u: u32[len(x)]
  call twice(x, t)
  repeat k {
    call evens(t, u)
    while f[0] != 0 limit 3 { call down(f) }
  }
  repeat k - k { call add(u, y) }
  call count(u, n)
  call ignore(t, u) grid(n[0])
}
)");
  const ReuseInput& in = l.input;
  ASSERT_EQ(in.arms.size(), 6u);
  const auto use = [&](size_t arm, size_t k) { return in.arms[arm].uses.at(k); };
  const auto is = [&](ArmUse u, std::string_view name, std::string_view what) {
    std::string has;
    if (u.reads) has += 'r';
    if (u.writes) has += 'w';
    if (u.atomics) has += 'a';
    if (u.overwrites) has += 'o';
    return u.buffer == l.buffer(name) && has == what;
  };
  EXPECT_TRUE(is(use(0, 0), "x", "r"));
  EXPECT_TRUE(is(use(0, 1), "t", "wo"));
  EXPECT_TRUE(is(use(1, 1), "u", "w"));
  EXPECT_TRUE(is(use(3, 1), "y", "rw"));
  EXPECT_TRUE(is(use(4, 1), "n", "rwa"));
  EXPECT_TRUE(is(use(5, 0), "t", ""));
  EXPECT_TRUE(is(use(5, 1), "u", "wo"));
  EXPECT_EQ(in.arms[1].id, 2u);  // the node
  EXPECT_EQ(in.arms[1].name, "evens");
  ASSERT_EQ(in.loops.size(), 3u);
  std::vector<std::tuple<uint32_t, uint32_t, bool>> loops;
  for (const auto& loop : in.loops) loops.push_back({loop.first, loop.last, loop.runs});
  std::sort(loops.begin(), loops.end());
  EXPECT_EQ(loops, (decltype(loops){{1, 2, true}, {2, 2, false}, {3, 3, false}}));
  EXPECT_TRUE(in.buffers[l.buffer("x")].host);
  EXPECT_TRUE(in.buffers[l.buffer("y")].host);
  EXPECT_FALSE(in.buffers[l.buffer("t")].host);
  EXPECT_TRUE(in.buffers[l.buffer("f")].indirect);
  EXPECT_TRUE(in.buffers[l.buffer("n")].indirect);
  EXPECT_EQ(in.buffers[l.buffer("t")].bytes, 256u);
  EXPECT_EQ(in.buffers[l.buffer("k")].bytes, 0u);
  const IdMap<GraphBufferId, bool> stays = non_escaping(in);
  EXPECT_FALSE(stays[l.buffer("n")]);
  EXPECT_FALSE(stays[l.buffer("f")]);
  EXPECT_TRUE(stays[l.buffer("u")]);
  EXPECT_GT(expect_right(l, plan_reuse(in)).bytes_read, 0u);
}

TEST(ReuseReplay, chain_runs_in_half_of_the_memory) {
  const Loaded l = load(std::string(kernels) + R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  buffer d: u32[len(x)]
  call twice(x, a)
  call twice(a, b)
  call evens(b, c)
  call twice(c, d)
  call add(d, a)
  call twice(d, y)
}
)");
  const ReusePlan plan = plan_reuse(l.input);
  const ReuseReplay done = expect_right(l, plan);
  EXPECT_EQ(done.calls, 6u);
  EXPECT_EQ(done.clears, 1u);  // `c` is written in part
  EXPECT_EQ(plan.before, 1024u);
  EXPECT_LT(plan.after, plan.before);
  EXPECT_EQ(plan.after, plan.live_sum);
}

TEST(ReuseReplay, words_of_bytes_and_places_out_of_bounds) {
  const Loaded l = load(std::string(kernels) + R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u8[len(x)]
  buffer b: u32[len(x)]
  call narrow(x, a)
  call words(a, b)
  call twice(b, y)
}
)");
  const ReuseReplay done = expect_right(l, plan_reuse(l.input));
  EXPECT_EQ(done.bytes_written, 63u + 256u);    // one index is negative
  EXPECT_EQ(done.bytes_read, 61u * 4u + 256u);  // three words leave the buffer
}

TEST(ReuseReplay, V0889_finds_a_read_of_what_another_wrote) {
  const Loaded l = load(std::string(kernels) + R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call twice(x, a)
  call evens(x, b)
  call twice(a, y)
  call twice(b, y)
}
)");
  ReusePlan plan = plan_reuse(l.input);
  expect_right(l, plan);
  const auto code = [&](const ReusePlan& broken) {
    const auto r = replay(l, broken);
    EXPECT_FALSE(r);
    return r ? "" : to_string(r.errors()[0].code) + " " + r.errors()[0].message;
  };
  ReusePlan broken = plan;
  broken.clears.clear();
  EXPECT_EQ(code(broken),
            "V0889 call 3 (`twice`): byte 4 of `b` is read, but nobody has written "
            "or cleared it");
  broken = plan;
  broken.placement[l.buffer("b")] = broken.placement[l.buffer("a")];
  EXPECT_EQ(code(broken),
            "V0889 call 2 (`twice`): byte 0 of `a` is read, but `b` was written there");
  broken = plan;
  broken.slot_bytes[0] -= 4;
  EXPECT_NE(code(broken).find("outside of its slot"), std::string::npos);
  broken = plan;
  broken.clears[0].first = 2;
  EXPECT_NE(code(broken).find("after it has been used"), std::string::npos);
}

TEST(ReuseReplay, V0889_finds_an_access_that_the_input_does_not_know) {
  Loaded l = load(std::string(kernels) + R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  call twice(x, a)
  call twice(a, y)
}
)");
  l.input.arms[1].uses[0].reads = false;
  const auto r = replay(l, plan_reuse(l.input));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::ReuseReplayFailed);
  EXPECT_EQ(r.errors()[0].message,
            "call 1 (`twice`): `a` is read, which the plan's input does not say");
}

/// Calls by chance over intermediates, in loops that run or not.
std::string generate(uint64_t seed) {
  std::mt19937_64 random(seed);
  const uint64_t buffers = 2 + random() % 5;
  std::string text = "graph g(x: in u32[], w: u32, y: inout u32[]) {\n  buffer f: u32[1]\n";
  for (uint64_t b = 0; b < buffers; ++b) text += fmt::format("  buffer t{}: u32[len(x)]\n", b);
  text += "  buffer n: u32[1]\n";
  int depth = 0;
  const auto source = [&] {
    return random() % 6 == 0 ? std::string("x") : fmt::format("t{}", random() % buffers);
  };
  for (uint64_t k = 4 + random() % 14; k > 0; --k) {
    switch (random() % 12) {
      case 0:
        if (depth < 2) {
          ++depth;
          const char* heads[] = {"repeat w", "repeat w - w", "while f[0] == 0 limit 2", "repeat 3"};
          text += fmt::format("  {} {{\n", heads[random() % 4]);
        }
        break;
      case 1:
        if (depth > 0) --depth, text += "  }\n";
        break;
      case 2: text += fmt::format("  call count({}, n)\n", source()); break;
      case 3: text += fmt::format("  call add({}, y)\n", source()); break;
      case 4: text += "  call down(f)\n"; break;
      default: {
        const std::string from = source(), to = fmt::format("t{}", random() % buffers);
        if (from == to) break;
        const char* names[] = {"twice", "twice", "evens", "add", "ignore"};
        text += fmt::format("  call {}({}, {})\n", names[random() % 5], from, to);
      }
    }
  }
  while (depth-- > 0) text += "  }\n";
  return kernels + text + "}\n";
}

TEST(ReuseReplay, generated_graphs_run_as_planned) {
  uint64_t shared = 0, read = 0, clears = 0, found = 0, broken = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = generate(seed);
    const Loaded l = load(text, 64);
    const ReusePlan plan = plan_reuse(l.input);
    const ReuseReplay done = expect_right(l, plan);
    if (HasFailure()) {
      std::puts(text.c_str());
      return;
    }
    shared += plan.after < plan.before;
    read += done.bytes_read;
    clears += done.clears;
    // All in one place: where a run goes wrong, the checker knew it.
    ReusePlan one = plan;
    for (Placement& p : one.placement)
      if (p.slot == 0) p.offset = 0;
    const bool right = bool(replay(l, one)), checks = bool(check_reuse(l.input, one));
    EXPECT_TRUE(right || !checks);
    found += !checks;
    broken += !right;
  }
  EXPECT_GT(shared, 100u);
  EXPECT_GT(read, 10'000u);
  EXPECT_GT(clears, 100u);
  EXPECT_GT(broken, 50u);
  EXPECT_GE(found, broken);
}

}  // namespace
}  // namespace vyre::plan
