// Loops that run on the device without the host, and grid barriers of more workgroups than run at
// once. The interpreter is the device; graphs and single launches must give the same results.

#include "generate/generate.h"
#include "ir/graph_launch.h"
#include "runtime/run_graph.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

/// A device that takes loops.
struct Looping {
  Failing backend;
  Looping() {
    backend.changed.limits.loops = true;
    backend.changed.limits.forward_progress = true;
  }
  Device open() {
    OpenOptions o;
    o.use_cache = false;
    return *Device::open(backend, 0, o);
  }
};

/// The same bytes or the same errors as by the interpreter.
void expect_same(Looping& l, const Module& m, const interp::GraphInputs& inputs,
                 RunOptions options = {}) {
  const auto wanted = interp::run(m, m.graphs[0], inputs);
  for (const bool planned : {true, false}) {
    SCOPED_TRACE(planned ? "planned" : "not planned");
    Device d = l.open();
    options.fuse = options.reuse = planned;
    const auto got = run_graph(d, m, m.graphs[0], inputs, options);
    ASSERT_EQ(bool(wanted), bool(got)) << render(wanted ? got.errors() : wanted.errors(), {});
    if (!wanted) {
      EXPECT_EQ(render(wanted.errors(), {}), render(got.errors(), {}));
      continue;
    }
    EXPECT_EQ(wanted->buffers, got->buffers);
    if (!planned) {
      EXPECT_EQ(wanted->calls, got->calls);
    }
  }
}

/// Two calls per iteration, one with an output that is cleared each time.
const char* countdown = R"(
kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  if x[global_id.x] != 5 { y[global_id.x] = x[global_id.x] }
}
kernel step(bad: u32, t: in u32[], flag: inout u16[3], x: inout u32[len(t)]) workgroup(32) grid(len(t)) {
  x[global_id.x] = t[global_id.x] * 3 + 1
  if global_id.x == 0 {
    flag[1] -= 1
    assert(u32(flag[1]) != bad, 9)
  }
}
graph g(bad: u32, n: u32, flag: inout u16[3], x: inout u32[]) {
  buffer t: u32[len(x)]
  while flag[1] != 0 limit n {
    call copy(x, t)
    call step(bad, t, flag, x)
  }
}
)";

interp::GraphInputs countdown_inputs(uint32_t bad, uint32_t n, uint16_t flag) {
  U x(70);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i);
  return {{bytes(U{bad}), bytes(U{n}), bytes(std::vector<uint16_t>{7, flag, 9}), bytes(x)}, {}};
}

TEST(loops, of_a_flag_run_on_the_device) {
  const Module m = parsed(countdown);
  for (const uint16_t rounds : {0, 1, 2, 300}) {
    SCOPED_TRACE(rounds);
    Looping l;
    expect_same(l, m, countdown_inputs(999, 1000, rounds));
    EXPECT_EQ(l.backend.loops, 2);  // planned and not
  }
}

TEST(loops, end_at_their_limit) {
  Looping l;
  for (const uint32_t limit : {0u, 1u, 17u})
    expect_same(l, parsed(countdown), countdown_inputs(999, limit, 40));
  EXPECT_EQ(l.backend.loops, 4);  // none for a limit of 0
}

TEST(loops, with_a_trap_name_the_stage_in_them) {
  Looping l;
  const Module m = parsed(countdown);
  expect_same(l, m, countdown_inputs(35, 1000, 40));
  EXPECT_EQ(l.backend.loops, 2);
  Device d = l.open();
  RunOptions apart;
  apart.fuse = false;
  const auto r = run_graph(d, m, m.graphs[0], countdown_inputs(35, 1000, 40), apart);
  ASSERT_FALSE(r);
  EXPECT_TRUE(r.errors()[0].message.starts_with("stage 2 (`step`): ")) << r.errors()[0].message;
}

TEST(loops, count_their_launches) {
  Looping l;
  const Module m = parsed(countdown);
  Device d = l.open();
  RunOptions apart;
  apart.fuse = false;
  apart.call_times = true;
  const auto r = run_graph(d, m, m.graphs[0], countdown_inputs(999, 1000, 40), apart);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->calls, 80u);
  EXPECT_EQ(r->segments, 80u);
  ASSERT_EQ(r->call_ns.size(), 1u);
  EXPECT_TRUE(r->call_ns[0].is_loop);
  EXPECT_GT(r->call_ns[0].ns, 0u);
}

TEST(loops, that_never_end_are_stopped) {
  Looping l;
  const Module m = parsed(R"(
kernel spin(x: inout u32[]) workgroup(1) grid(1) { x[1] += 1 }
graph g(x: inout u32[2]) { while x[0] != 0 limit 4000000000 { call spin(x) } }
)");
  Device d = l.open();
  RunOptions o;
  o.time_limit = 0.2;
  const auto r = run_graph(d, m, m.graphs[0], {{bytes(U{1, 0})}, {}}, o);
  EXPECT_EQ(code_of(r), Code::TimeLimitExceeded);
  EXPECT_TRUE(r.errors()[0].message.starts_with("stage 1 (`spin`): ")) << r.errors()[0].message;
  EXPECT_EQ(l.backend.loops, 1);
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(loops, with_a_count_are_the_devices_if_they_are_long_or_untimed) {
  const Module m = parsed(R"(
kernel inc(x: inout u32[]) workgroup(32) grid(len(x)) { x[global_id.x] += global_id.x }
graph g(n: u32, x: inout u32[]) { repeat n { call inc(x) } }
)");
  Looping l;
  const auto inputs = [](uint32_t n) {
    return interp::GraphInputs{{bytes(U{n}), bytes(U(40, 1))}, {}};
  };
  RunOptions timed;
  timed.call_times = true;
  expect_same(l, m, inputs(1024), timed);
  EXPECT_EQ(l.backend.loops, 0);
  expect_same(l, m, inputs(1025), timed);
  EXPECT_EQ(l.backend.loops, 2);

  Device d = l.open();
  const Graph& g = m.graphs[0];
  const std::vector<std::optional<uint64_t>> counts = {{}, 40}, scalars = {7, {}};
  const Buffer x = *d.allocate(160);
  const auto made = d.prepare(m, g, *resolve_graph(g, counts, scalars));
  ASSERT_TRUE(made);
  SubmitOptions untimed;
  untimed.call_times = false;
  U result(40);
  const auto report =
      d.submit({LaunchGraph{*made, {scalar(7u), x}}, Readback{x, out(result)}}, untimed)->wait();
  ASSERT_TRUE(report);
  EXPECT_EQ(l.backend.loops, 3);
  EXPECT_EQ(report->call_count, 7u);
  EXPECT_EQ(report->launches, 7u);
  EXPECT_TRUE(report->calls.empty());
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(result[i], 7 * i);
}

TEST(loops, graphs_that_come_again_are_replays) {
  const Module m = parsed(R"(
kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 7)
  y[global_id.x] = x[global_id.x] * by
}
kernel neighbour(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] += x[global_id.x] + x[global_id.x + 1]
}
graph g(by: u32, x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call scale(by, x, t)
  call neighbour(t, y)
  call neighbour(t, y)
}
)");
  Looping l;
  Device d = l.open();
  const Graph& g = m.graphs[0];
  constexpr uint32_t n = 70;
  const std::vector<std::optional<uint64_t>> counts = {{}, n}, scalars = {7, {}};
  GraphOptions apart;
  apart.fuse = false;
  const auto made = d.prepare(m, g, *resolve_graph(g, counts, scalars), apart);
  ASSERT_TRUE(made) << render(made.errors(), {});
  std::vector<std::pair<Buffer, Buffer>> pairs;
  for (int i = 0; i < 6; ++i) pairs.emplace_back(*d.allocate(n * 4), *d.allocate(n * 4));
  SubmitOptions untimed;
  untimed.call_times = false;
  const auto run = [&](size_t pair, uint32_t by, uint32_t value) {
    U x(n, value), y(n, 1);
    const auto& [in_buffer, out_buffer] = pairs[pair];
    auto r =
        d.submit({Upload{in_buffer, in(x)}, LaunchGraph{*made, {scalar(by), in_buffer, out_buffer}},
                  Readback{out_buffer, out(y)}},
                 untimed)
            ->wait();
    if (!r) return r;
    EXPECT_EQ(r->launches, 3u);
    EXPECT_EQ(r->call_count, 3u);
    EXPECT_GT(r->run_ns, 0u);
    for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(y[i], value * by * (i + 1 < n ? 4 : 2)) << i;
    return r;
  };
  const auto replays_of = [&](auto&&... arguments) {
    const int before = l.backend.replays;
    EXPECT_TRUE(run(arguments...));
    return l.backend.replays - before;
  };
  EXPECT_EQ(replays_of(0, 3, 5), 0) << "recorded";
  EXPECT_EQ(replays_of(0, 3, 6), 1) << "again, with other data";
  EXPECT_EQ(replays_of(0, 4, 6), 0) << "another scalar";
  EXPECT_EQ(replays_of(0, 3, 8), 1);
  EXPECT_EQ(replays_of(0, 4, 8), 1);
  EXPECT_EQ(replays_of(1, 3, 8), 0) << "other buffers";
  EXPECT_EQ(replays_of(1, 3, 9), 1);
  for (size_t i = 2; i < 6; ++i) EXPECT_EQ(replays_of(i, 3, 5), 0);
  EXPECT_EQ(replays_of(0, 3, 5), 0) << "the oldest are forgotten";
  const auto trapped = run(0, 3, 99);
  ASSERT_FALSE(trapped);
  EXPECT_TRUE(trapped.errors()[0].message.starts_with("stage 1 (`scale`): "))
      << message_of(trapped);
  EXPECT_EQ(replays_of(0, 3, 1), 1) << "after a failure";
}

TEST(loops, whose_rounds_differ_are_left_to_the_host) {
  Looping l;
  // A loop in a loop: the inner one is the device's. A grid from memory; another comparison.
  expect_same(l, parsed(R"(
kernel dec(x: inout u32[]) workgroup(32) grid(len(x)) { x[global_id.x] -= 1 }
kernel set(x: inout u32[], y: inout u32[]) workgroup(1) grid(1) { x[0] = 3
 y[0] -= 1 }
graph g(x: inout u32[2], y: inout u32[1]) {
  while y[0] != 0 limit 100 {
    call set(x, y)
    while x[0] != 0 limit 100 { call dec(x) }
  }
}
)"),
              {{bytes(U{0, 50}), bytes(U{4})}, {}});
  EXPECT_EQ(l.backend.loops, 8);
  l.backend.loops = 0;
  const std::string kernel =
      "kernel dec(x: inout u32[]) workgroup(1) grid(len(x)) { x[global_id.x] -= 1 }\n";
  for (const char* loop :
       {"while x[0] != 0 limit 9 { call dec(x) grid(x[1]) }",
        "while x[0] != 2 limit 9 { call dec(x) }", "while x[0] >= 2 limit 9 { call dec(x) }",
        "while x[7] != 0 limit 9 { call dec(x) }"})
    expect_same(l, parsed(kernel + "graph g(x: inout u32[2]) { " + loop + " }"),
                {{bytes(U{6, 2})}, {}});
  EXPECT_EQ(l.backend.loops, 0);
  expect_same(
      l, parsed(kernel + "graph g(x: inout u32[2]) { while x[0] > 0 limit 9 { call dec(x) } }"),
      {{bytes(U{6, 2})}, {}});
  EXPECT_EQ(l.backend.loops, 2);
}

TEST(loops, of_random_graphs_agree) {
  Looping l;
  lab::GenerateOptions only;
  only.only_graphs = true;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const lab::Generated g = lab::generate(seed, only);
    SCOPED_TRACE(seed);
    expect_same(l, g.module, {g.inputs.data, g.inputs.lengths});
    if (HasFailure()) return;
  }
  EXPECT_GT(l.backend.loops, 10);
}

// ---- Grid barriers.

const char* exchange = R"(
kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {
  x[global_id.x] += global_id.x
  barrier grid
  y[global_id.x] = x[len(x) - 1 - global_id.x]
}
graph g(x: inout u32[], y: out u32[len(x)]) { call k(x, y) }
)";

TEST(loops, grid_barriers_of_too_many_workgroups_are_split) {
  Looping l;
  l.backend.at_once = 4;
  const Module m = parsed(exchange);
  Device d = l.open();
  const auto e = d.compile(m.kernels[0]);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->segments(), 1u);
  for (const uint32_t n : {0u, 1u, 32u, 33u, 70u, 32u}) {
    const Buffer x = *d.allocate(n * 4), y = *d.allocate(n * 4);
    U values(n, 5), result(n, 1);
    const auto r =
        d.submit({Upload{x, in(values)}, Launch{*e, {x, y}}, Readback{y, out(result)}})->wait();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->launches, n == 0 ? 0u : n <= 32 ? 1u : 2u) << n;
    for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(result[i], 5 + (n - 1 - i));
    EXPECT_TRUE(d.free(x) && d.free(y));

    const auto graph = run_graph(d, m, m.graphs[0], {{bytes(U(n, 5)), {}}, {}});
    ASSERT_TRUE(graph);
    EXPECT_EQ(graph->segments, r->launches);
    EXPECT_EQ(graph->buffers[1], bytes(result));
  }
}

TEST(loops, wrong_arguments_of_grid_barriers_are_told) {
  Looping l;
  l.backend.at_once = 0;
  Device d = l.open();
  const auto e = d.compile(parsed(exchange).kernels[0]);
  const Buffer x = *d.allocate(8);
  EXPECT_EQ(code_of(d.submit({Launch{*e, {x}}})), Code::WrongArgument);
  EXPECT_EQ(code_of(d.submit({Launch{*e, {x, scalar(1u)}}})), Code::WrongArgument);
}

// None of these loops would end otherwise: their counts are out of reach.
TEST(loops, that_change_nothing_end_at_once) {
  const std::string kernels = R"(
kernel idle(n: in u32[], y: inout u32[]) workgroup(4) grid(len(n)) { y[0] += 100 }
kernel idle_scratch(n: in u32[], y: inout u32[], t: scratch u32[64]) workgroup(4) grid(len(n)) {
  t[global_id.x] = n[global_id.x]
  y[0] += t[global_id.x + 1]
}
kernel idle_sync(n: in u32[], y: inout u32[]) workgroup(4) grid(len(n)) {
  y[global_id.x] += 1
  barrier grid
  y[0] += y[global_id.x + 1]
}
kernel many(y: inout u32[]) workgroup(4) grid(len(y)) { y[0] += 100 }
kernel one(y: inout u32[]) workgroup(1) grid(1) { y[0] += 1 }
graph g(n: in u32[], y: inout u32[2]) {
)";
  const std::string many = "repeat 1000000000000 { ";
  const std::pair<std::string, uint32_t> cases[] = {
      {many + "call idle(n, y) }\n call one(y)", 1},
      {many + "call idle(n, y)\n call idle_scratch(n, y)\n call idle_sync(n, y) }\n call one(y)",
       1},
      {many + "repeat 0 { call one(y) } }\n call one(y)", 1},
      {many + "while y[0] == 0 limit 0 { call one(y) } }\n call one(y)", 1},
      {many + "while y[0] != 0 limit 5 { call one(y) } }\n call one(y)", 1},
      {"while y[0] == 0 limit 1000000000000 { call idle(n, y) }\n call one(y)", 1},
      {"while y[0] == 0 limit 1000000000000 { repeat 3 { call idle(n, y) } }\n call one(y)", 1},
      {many + many + "call idle(n, y)\n repeat 0 { call one(y) } } }\n call one(y)", 1},
      {many + "call many(y) grid(y[1]) }\n call one(y)", 1},
      {"repeat 3 { " + many + "call idle(n, y) }\n call one(y) }", 3},
      {"while y[0] != 3 limit 100 { call one(y)\n" + many + "call idle(n, y) } }", 3},
      {many + "while y[0] != 4 limit 1 { call idle(n, y)\n call one(y) } }", 4},
  };
  for (const auto& [body, expected] : cases) {
    SCOPED_TRACE(body);
    const Module m = parsed(kernels + body + "\n}\n");
    const interp::GraphInputs inputs{{bytes(U{}), bytes(U{0, 0})}, {}};
    const auto wanted = interp::run(m, m.graphs[0], inputs);
    ASSERT_TRUE(wanted) << render(wanted.errors(), {});
    EXPECT_EQ(wanted->buffers[1], bytes(U{expected, 0}));
    Looping l;
    expect_same(l, m, inputs);
    for (const bool split : {true, false}) {
      Device d = split ? open_split() : open();
      const auto got = run_graph(d, m, m.graphs[0], inputs);
      ASSERT_TRUE(got) << render(got.errors(), {});
      EXPECT_EQ(got->buffers, wanted->buffers);
    }
  }
}

// The first part of a graph is recorded with the device locked.
TEST(loops, with_many_idle_calls_are_recorded_in_parts) {
  std::string text =
      "kernel idle(n: in u32[], y: inout u32[]) workgroup(4) grid(len(n)) { y[0] += 100 }\n"
      "kernel one(y: inout u32[]) workgroup(1) grid(1) { y[0] += 1 }\n"
      "graph g(n: in u32[], y: inout u32[1]) {\n repeat 3 {\n";
  for (int i = 0; i < 5000; ++i) text += "  call idle(n, y)\n";
  text += "  call one(y) }\n}\n";
  const Module m = parsed(text);
  Device d = open();
  RunOptions options;
  options.fuse = options.reuse = false;
  const auto r = run_graph(d, m, m.graphs[0], {{bytes(U{}), bytes(U{0})}, {}}, options);
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(r->buffers[1], bytes(U{3}));
  EXPECT_EQ(r->calls, 15003u);  // the same as if nothing were left out
}

TEST(loops, that_only_clear_end_at_once) {
  const Module m = parsed(R"(
kernel idle(n: in u32[], y: out u32[2]) workgroup(4) grid(len(n)) { y[0] = 1 }
graph g(n: in u32[], y: out u32[2]) { repeat 1000000000000 { call idle(n, y) } }
)");
  Looping l;
  const interp::GraphInputs inputs{{bytes(U{})}, {}};
  expect_same(l, m, inputs);
  Device d = open();
  const auto r = run_graph(d, m, m.graphs[0], inputs);
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(r->buffers[1], bytes(U{0, 0}));
}

}  // namespace
}  // namespace vyre::driver
