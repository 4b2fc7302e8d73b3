// labels: threads
// Graphs as commands: prepared once, launched again and again with other data.

#include <gtest/gtest.h>

#include "ir/graph_launch.h"
#include "plan/graph_plan.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

GraphShape shape_for(const Graph& g, std::vector<std::optional<uint64_t>> counts,
                     std::vector<std::optional<uint64_t>> scalars) {
  counts.resize(g.buffers.size());
  scalars.resize(g.buffers.size());
  const Result<GraphShape> shape = resolve_graph(g, counts, scalars);
  EXPECT_TRUE(shape) << render(shape.errors(), {});
  return *shape;
}

/// Three stages over two intermediates; the second one reads its neighbour.
const char* chain = R"(
kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * by
}
kernel neighbour(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + x[global_id.x + 1]
}
graph g(by: u32, x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  buffer u: u32[len(x)]
  call scale(by, x, t)
  call neighbour(t, u)
  call scale(2, u, y)
}
)";

std::vector<uint32_t> chain_result(const std::vector<uint32_t>& x, uint32_t by) {
  std::vector<uint32_t> y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = 2 * (x[i] * by + (i + 1 < x.size() ? x[i + 1] * by : 0));
  return y;
}

struct Chain {
  explicit Chain(size_t n, const GraphOptions& options = {}) : device(open()), count(n) {
    const Graph& g = module.graphs[0];
    auto made = device.prepare(module, g, shape_for(g, {{}, n}, {3}), options);
    EXPECT_TRUE(made) << (made ? "" : render(made.errors(), {}));
    graph = *made;
    x = *device.allocate(n * 4);
    y = *device.allocate(n * 4);
  }
  Result<SubmitReport> run(uint32_t by, const std::vector<uint32_t>& values,
                           std::vector<uint32_t>& result, SubmitOptions options = {}) {
    result.assign(count, 77);
    const auto ticket = device.submit(
        {Upload{x, in(values)}, LaunchGraph{graph, {scalar(by), x, y}}, Readback{y, out(result)}},
        options);
    if (!ticket) return ticket.errors();
    return ticket->wait();
  }

  Module module = parsed(chain);
  Device device;
  size_t count;
  GraphExecutable graph;
  Buffer x, y;
};

std::vector<uint32_t> numbers(size_t n, uint32_t from) {
  std::vector<uint32_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = from + uint32_t(i * i);
  return v;
}

TEST(graph, is_replayed_with_other_data_and_scalars) {
  for (const bool planned : {true, false})
    for (const size_t n :
         {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}}) {
      GraphOptions options;
      options.fuse = options.reuse = planned;
      Chain c(n, options);
      for (uint32_t round = 0; round < 4; ++round) {
        const std::vector<uint32_t> x = numbers(n, round);
        std::vector<uint32_t> y;
        const auto report = c.run(round + 3, x, y);
        ASSERT_TRUE(report) << render(report.errors(), {});
        EXPECT_EQ(y, chain_result(x, round + 3)) << n << " round " << round;
        EXPECT_EQ(report->call_count, report->calls.size());
        if (!planned) {
          EXPECT_EQ(report->call_count, 3u);
        }
      }
    }
}

TEST(graph, of_several_streams_runs_one_after_the_other) {
  Chain c(300);
  constexpr uint32_t streams = 4, rounds = 8;
  std::vector<Buffer> xs, ys;
  std::vector<std::vector<uint32_t>> results(streams * rounds);
  std::vector<Ticket> tickets;
  for (uint32_t s = 0; s < streams; ++s) {
    xs.push_back(*c.device.allocate(300 * 4));
    ys.push_back(*c.device.allocate(300 * 4));
  }
  for (uint32_t i = 0; i < streams * rounds; ++i) {
    const uint32_t s = i % streams;
    results[i].assign(300, 0);
    const std::vector<uint32_t> x = numbers(300, i);
    const auto t =
        c.device.submit({Upload{xs[s], in(x)}, LaunchGraph{c.graph, {scalar(3u), xs[s], ys[s]}},
                         Readback{ys[s], out(results[i])}},
                        {.stream = s});
    ASSERT_TRUE(t);
    tickets.push_back(*t);
  }
  for (uint32_t i = 0; i < tickets.size(); ++i) {
    ASSERT_TRUE(tickets[i].wait());
    EXPECT_EQ(results[i], chain_result(numbers(300, i), 3)) << i;
  }
}

TEST(graph, memory_goes_with_the_last_handle) {
  Device device = open();
  const Module m = parsed(chain);
  const GraphShape shape = shape_for(m.graphs[0], {{}, 1000}, {3});
  GraphOptions plain;
  plain.fuse = plain.reuse = false;
  {
    const auto a = device.prepare(m, m.graphs[0], shape, plain);
    ASSERT_TRUE(a);
    const GraphExecutable copy = *a;
    EXPECT_EQ(copy.memory_bytes(), 2 * 4096u);  // of 4,000 bytes each
    EXPECT_EQ(copy.unplanned_bytes(), 2 * 4096u);
    EXPECT_EQ(device.memory_used(), 2 * 4096u);
  }
  EXPECT_EQ(device.memory_used(), 0u);
}

TEST(graph, intermediates_that_do_not_meet_share_memory) {
  Device device = open();
  const Module m = parsed(R"(
kernel turn(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[len(x) - 1 - global_id.x] + 1
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  buffer c: u32[len(x)]
  buffer d: u32[len(x)]
  call turn(x, a)  call turn(a, b)  call turn(b, c)  call turn(c, d)  call turn(d, y)
}
)");
  GraphOptions options;
  options.fuse = false;
  const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {1024}, {}), options);
  ASSERT_TRUE(g);
  EXPECT_EQ(g->unplanned_bytes(), 4 * 4096u);
  EXPECT_EQ(g->memory_bytes(), 2 * 4096u);
  const Buffer x = *device.allocate(4096), y = *device.allocate(4096);
  for (uint32_t round = 0; round < 2; ++round) {
    const std::vector<uint32_t> values = numbers(1024, round);
    std::vector<uint32_t> result(1024);
    const auto t =
        device.submit({Upload{x, in(values)}, LaunchGraph{*g, {x, y}}, Readback{y, out(result)}});
    ASSERT_TRUE(t);
    ASSERT_TRUE(t->wait());
    for (size_t i = 0; i < 1024; ++i) ASSERT_EQ(result[i], values[1023 - i] + 5);
  }
}

TEST(graph, arguments_that_do_not_fit_are_errors) {
  Chain c(100);
  const auto launch = [&](std::vector<Argument> arguments) {
    return c.device.submit({LaunchGraph{c.graph, std::move(arguments)}});
  };
  EXPECT_EQ(code_of(launch({scalar(3u), c.x})), Code::WrongArgument);
  EXPECT_EQ(code_of(launch({c.x, c.x, c.y})), Code::WrongArgument);
  EXPECT_EQ(code_of(launch({scalar(3u), c.x, scalar(3u)})), Code::WrongArgument);
  EXPECT_EQ(code_of(launch({scalar(3u), c.x, c.x})), Code::OverlappingArguments);
  const Buffer longer = *c.device.allocate(404);
  const auto wrong = launch({scalar(3u), longer, c.y});
  EXPECT_EQ(code_of(wrong), Code::WrongArgument);
  EXPECT_NE(message_of(wrong).find("404 bytes; the graph was prepared for 400"), std::string::npos)
      << message_of(wrong);
  EXPECT_EQ(code_of(c.device.submit({LaunchGraph{}})), Code::EmptyHandle);
  Device other = open();
  EXPECT_EQ(code_of(other.submit({LaunchGraph{c.graph, {scalar(3u), c.x, c.y}}})),
            Code::ForeignBuffer);
  ASSERT_TRUE(c.device.free(longer));
  EXPECT_EQ(code_of(launch({scalar(3u), longer, c.y})), Code::StaleBuffer);
}

TEST(graph, a_scalar_that_changes_a_grid_needs_another_preparation) {
  Device device = open();
  const Module m = parsed(R"(
kernel mark(n: u32, v: u32, y: inout u32[]) workgroup(8) grid(n) {
  if global_id.x < n { y[global_id.x] = v }
}
graph g(n: u32, v: u32, y: inout u32[]) { call mark(n, v, y) }
)");
  const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {{}, {}, 40}, {20, 1}));
  ASSERT_TRUE(g);
  const Buffer y = *device.allocate(160);
  ASSERT_TRUE(device.submit({Fill{y}}));
  std::vector<uint32_t> result(40);
  const auto t =
      device.submit({LaunchGraph{*g, {scalar(20u), scalar(9u), y}}, Readback{y, out(result)}});
  ASSERT_TRUE(t);
  ASSERT_TRUE(t->wait());
  EXPECT_EQ(std::count(result.begin(), result.end(), 9u), 20);
  const auto wrong = device.submit({LaunchGraph{*g, {scalar(33u), scalar(9u), y}}});
  EXPECT_EQ(code_of(wrong), Code::WrongArgument);
  EXPECT_NE(message_of(wrong).find("changes a length or a grid"), std::string::npos);
}

const char* traps = R"(
kernel first(x: in u32[], t: out u32[len(x)]) workgroup(4) grid(len(x)) {
  t[global_id.x] = x[global_id.x] + 1
}
kernel second(t: in u32[], y: inout u32[len(t)]) workgroup(4) grid(len(t)) {
  y[global_id.x] = t[global_id.x]
  assert(t[global_id.x] != 6, 9)
}
graph g(x: in u32[], y: inout u32[len(x)]) {
  buffer t: u32[len(x)]
  call first(x, t)
  call second(t, y)
}
)";

TEST(graph, a_trap_names_its_stage_and_leaves_the_host_alone) {
  for (const bool fuse : {true, false}) {
    Device device = open();
    const Module m = parsed(traps);
    GraphOptions options;
    options.fuse = fuse;
    const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {8, 8}, {}), options);
    ASSERT_TRUE(g);
    const Buffer x = *device.allocate(32), y = *device.allocate(32);
    std::vector<uint32_t> result(8, 123);
    const std::vector<uint32_t> bad = {0, 1, 2, 3, 4, 5, 6, 7}, good(8, 1);
    const auto t = device.submit({Upload{x, in(bad)}, Upload{y, in(bad)}, LaunchGraph{*g, {x, y}},
                                  Readback{y, out(result)}});
    ASSERT_TRUE(t);
    const auto failed = t->wait();
    EXPECT_EQ(code_of(failed), Code::Trapped);
    EXPECT_NE(message_of(failed).find("stage 2 (`second`): kernel `second` trapped with code 9 in "
                                      "invocation (5, 0, 0)"),
              std::string::npos)
        << message_of(failed);
    EXPECT_EQ(result, std::vector<uint32_t>(8, 123));
    EXPECT_TRUE(device.is_undefined(y));
    // The graph itself is as good as before.
    const auto again = device.submit({Upload{x, in(good)}, Upload{y, in(good)},
                                      LaunchGraph{*g, {x, y}}, Readback{y, out(result)}});
    ASSERT_TRUE(again);
    ASSERT_TRUE(again->wait());
    EXPECT_EQ(result, std::vector<uint32_t>(8, 2));
  }
}

TEST(graph, loops_that_only_the_device_can_count_are_one_submission) {
  const Module m = parsed(R"(
kernel halve(x: inout u32[], flag: out u32[1]) workgroup(4) grid(len(x)) {
  let i = global_id.x
  if i < len(x) {
    x[i] = x[i] / 2
    if x[i] > 0 { atomic_add(flag[0], 1) }
  }
}
graph g(x: inout u32[], rounds: out u32[1]) {
  buffer flag: u32[1]
  call halve(x, flag)
  while flag[0] != 0 limit 100 { call halve(x, flag) }
}
)");
  for (const bool split : {true, false}) {
    Device device = split ? open_split() : open();
    const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {5}, {}));
    ASSERT_TRUE(g);
    const Buffer x = *device.allocate(20), r = *device.allocate(4);
    for (const uint32_t largest : {1u, 1000u, 0xffffffffu}) {
      const std::vector<uint32_t> values = {1, 5, largest, 0, 3};
      std::vector<uint32_t> result(5, 9), rounds(1, 9);
      const auto t = device.submit({Upload{x, in(values)}, LaunchGraph{*g, {x, r}},
                                    Readback{x, out(result)}, Readback{r, out(rounds)}});
      ASSERT_TRUE(t);
      const auto report = t->wait();
      ASSERT_TRUE(report) << render(report.errors(), {});
      EXPECT_EQ(result, std::vector<uint32_t>(5, 0));
      EXPECT_EQ(rounds[0], 0u);  // an output that no call writes
      EXPECT_EQ(report->call_count, largest == 1u ? 3u : largest == 1000u ? 10u : 32u);
    }
  }
}

TEST(graph, kernels_with_grid_barriers_run_split_in_it) {
  const Module m = parsed(R"(
kernel rotate(x: inout u32[]) workgroup(4) grid(len(x)) {
  let i = global_id.x
  let next = x[(i + 1) % len(x)]
  barrier grid
  if i < len(x) { x[i] = next }
}
graph g(x: inout u32[]) { repeat 3 { call rotate(x) } }
)");
  Device device = open_split();
  const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {10}, {}));
  ASSERT_TRUE(g);
  const Buffer x = *device.allocate(40);
  std::vector<uint32_t> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, result(10);
  const auto t =
      device.submit({Upload{x, in(values)}, LaunchGraph{*g, {x}}, Readback{x, out(result)}});
  ASSERT_TRUE(t);
  const auto report = t->wait();
  ASSERT_TRUE(report) << render(report.errors(), {});
  EXPECT_EQ(result, (std::vector<uint32_t>{3, 4, 5, 6, 7, 8, 9, 0, 1, 2}));
  EXPECT_EQ(report->call_count, 3u);
  EXPECT_EQ(report->launches, 6u);
}

TEST(graph, a_call_that_cannot_run_is_an_error_when_it_is_reached) {
  const Module m = parsed(R"(
kernel fill(y: out u32[8]) workgroup(8) grid(8) { y[global_id.x] = 7 }
kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) { y[global_id.x] = x[global_id.x] }
graph g(n: u32, y: out u32[8], z: out u32[9]) {
  call fill(y)
  repeat n { call copy(y, z) }
}
)");
  Device device = open();
  for (const uint32_t n : {0u, 1u}) {
    const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {}, {n}));
    ASSERT_TRUE(g);
    const Buffer y = *device.allocate(32), z = *device.allocate(36);
    const auto t = device.submit({LaunchGraph{*g, {scalar(n), y, z}}});
    ASSERT_TRUE(t);
    const auto done = t->wait();
    ASSERT_EQ(bool(done), n == 0);
    if (n == 1) {
      EXPECT_EQ(code_of(done), Code::ArgumentLengthDiffers);
      EXPECT_EQ(message_of(done).find("stage 2 (`copy`): "), 0u) << message_of(done);
    }
  }
}

TEST(graph, a_memory_limit_is_an_error_with_numbers) {
  Device device = open();
  const Module m = parsed(chain);
  GraphOptions options;
  options.fuse = options.reuse = false;
  options.memory_limit = 2 * 4000 + 2 * 4096 - 1;
  const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {{}, 1000}, {3}), options);
  EXPECT_EQ(code_of(g), Code::MemoryLimitExceeded);
  EXPECT_NE(message_of(g).find("need 16192 bytes; the limit is 16191"), std::string::npos);
  options.memory_limit = 16192;
  EXPECT_TRUE(device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {{}, 1000}, {3}), options));
}

TEST(graph, telemetry_hears_of_every_call) {
  std::vector<LaunchSample> samples;
  OpenOptions o;
  o.telemetry = [&](const LaunchSample& s) { samples.push_back(s); };
  Device device = open(o);
  const Module m = parsed(R"(
kernel inc(x: inout u32[]) workgroup(8) grid(len(x)) op_id("inc") { x[global_id.x] += 1 }
graph g(x: inout u32[]) { repeat 3 { call inc(x) } }
)");
  const auto g = device.prepare(m, m.graphs[0], shape_for(m.graphs[0], {8}, {}));
  ASSERT_TRUE(g);
  const Buffer x = *device.allocate(32);
  const auto t = device.submit({Fill{x}, LaunchGraph{*g, {x}}});
  ASSERT_TRUE(t);
  ASSERT_TRUE(t->wait());
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].op_id, "inc");
  EXPECT_EQ(samples[0].bytes, 32u);
}

}  // namespace
}  // namespace vyre::driver
