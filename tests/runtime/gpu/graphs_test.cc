// Graphs on the device: fused or not, planned or not, replayed with other data, with loops of
// hundreds of rounds and traps inside of them; always the interpreter's bytes.

#include "ir/graph_launch.h"
#include "runtime/run_graph.h"
#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

class graphs_on_device : public OnDevice {
 protected:
  /// As by the interpreter, in every way to run it. `m` has one graph.
  void same_graph(const Module& m, const std::vector<std::vector<std::byte>>& values,
                  bool also_split = false) {
    const Graph& g = m.graphs[0];
    interp::GraphInputs inputs;
    inputs.data.resize(g.buffers.size());
    inputs.lengths.resize(g.buffers.size());
    size_t next = 0;
    for (size_t i = 0; i < g.buffers.size(); ++i)
      if (g.buffers[i].parameter && is_host_input(g.buffers[i].role))
        inputs.data[i] = values.at(next++);
    interp::Options reference;
    reference.subgroup_size = limits().default_subgroup_size;
    const auto wanted = interp::run(m, g, inputs, reference);
    for (int how = 0; how < (also_split ? 8 : 4); ++how) {
      const bool fuse = how & 1, reuse = how & 2, split = how & 4;
      SCOPED_TRACE(fmt::format("fuse {} reuse {} split {}", fuse, reuse, split));
      RunOptions o;
      o.fuse = fuse;
      o.reuse = reuse;
      o.time_limit = 60;
      const auto got = run_graph(split ? split_device() : device(), m, g, inputs, o);
      ASSERT_EQ(bool(wanted), bool(got))
          << (wanted ? text_of(got.errors()) : text_of(wanted.errors()));
      if (!wanted) {
        EXPECT_EQ(to_string(wanted.errors()[0].code), to_string(got.errors()[0].code));
        if (!fuse) {
          EXPECT_EQ(wanted.errors()[0].place.line, got.errors()[0].place.line)
              << text_of(got.errors());
        }
        continue;
      }
      for (size_t i = 0; i < wanted->buffers.size(); ++i)
        EXPECT_TRUE(wanted->buffers[i] == got->buffers[i]) << "`" << g.buffers[i].name << "`";
    }
  }
};

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
  buffer v: u32[len(x)]
  call scale(by, x, t)
  call neighbour(t, u)
  call scale(3, u, v)
  call neighbour(v, y)
}
)";

TEST_F(graphs_on_device, fused_and_not_planned_and_not) {
  const Module m = parsed(chain);
  for (const size_t n : {0, 1, 63, 64, 65, 1000, 100'003}) {
    SCOPED_TRACE(n);
    same_graph(m, {bytes(U{5}), bytes(noise(n, 1))});
  }
}

TEST_F(graphs_on_device, replayed_with_other_data_and_scalars) {
  const Module m = parsed(chain);
  const Graph& g = m.graphs[0];
  const size_t n = 3000;
  std::vector<std::optional<uint64_t>> counts(g.buffers.size()), scalars(g.buffers.size());
  counts[1] = n;
  scalars[0] = 1;
  const Result<GraphShape> shape = resolve_graph(g, counts, scalars);
  ASSERT_TRUE(shape) << text_of(shape.errors());
  for (const bool planned : {true, false}) {
    GraphOptions how;
    how.fuse = how.reuse = planned;
    const auto ready = device().prepare(m, g, *shape, how);
    ASSERT_TRUE(ready) << text_of(ready.errors());
    const Buffer x = buffer(n * 4), y = buffer(n * 4);
    std::vector<Ticket> tickets;
    std::vector<U> seen(40, U(n));
    for (uint32_t round = 0; round < 40; ++round) {
      const U data = noise(n, round);
      SubmitOptions o;
      o.stream = round % 3;
      const auto t =
          device().submit({Upload{x, in(data)}, LaunchGraph{*ready, {scalar(round + 1), x, y}},
                           Readback{y, out(seen[round])}},
                          o);
      ASSERT_TRUE(t) << text_of(t.errors());
      tickets.push_back(*t);
    }
    for (const Ticket& t : tickets) {
      const auto r = t.wait();
      ASSERT_TRUE(r) << text_of(r.errors());
    }
    for (uint32_t round = 0; round < 40; ++round) {
      U v = noise(n, round);
      for (const uint32_t by : {round + 1, 3u}) {
        for (uint32_t& e : v) e *= by;
        for (size_t i = 0; i + 1 < n; ++i) v[i] += v[i + 1];
      }
      ASSERT_EQ(seen[round], v) << round;
    }
  }
}

const char* loops = R"(
kernel step(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 3 + x[(global_id.x + 1) % len(x)]
}
kernel back(x: in u32[], left: inout u32[2], bad: u32, y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] ^ 5
  if global_id.x == 0 {
    left[0] -= 1
    left[1] += 1
    assert(left[1] != bad, 9)
  }
}
kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] }
)";

std::string with_loop(const std::string& head) {
  return std::string(loops) + R"(
graph g(n: u32, bad: u32, x: in u32[], left: inout u32[2], z: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call copy(x, a)
  )" + head +
         R"( {
    call step(a, b)
    call back(b, left, bad, a)
  }
  call copy(a, z)
}
)";
}

TEST_F(graphs_on_device, repeat_hundreds_of_rounds) {
  const Module m = parsed(with_loop("repeat n"));
  for (const uint32_t n : {0u, 1u, 2u, 17u, 300u}) {
    SCOPED_TRACE(n);
    same_graph(m, {bytes(U{n}), bytes(U{9999}), bytes(noise(500, 2)), bytes(U{1000, 0})});
  }
}

TEST_F(graphs_on_device, while_hundreds_of_rounds) {
  const Module m = parsed(with_loop("while left[0] != 0 limit n"));
  for (const uint32_t rounds : {0u, 1u, 2u, 31u, 500u}) {
    SCOPED_TRACE(rounds);
    same_graph(m, {bytes(U{100'000}), bytes(U{9999}), bytes(noise(500, 2)), bytes(U{rounds, 0})});
  }
  same_graph(m,
             {bytes(U{40}), bytes(U{9999}), bytes(noise(500, 2)), bytes(U{1000, 0})});  // its limit
}

TEST_F(graphs_on_device, traps_inside_loops) {
  for (const char* head : {"repeat n", "while left[0] != 0 limit n"}) {
    SCOPED_TRACE(head);
    const Module m = parsed(with_loop(head));
    for (const uint32_t bad : {1u, 2u, 77u})
      same_graph(m, {bytes(U{100}), bytes(U{bad}), bytes(noise(200, 2)), bytes(U{1000, 0})});
  }
  still_works();
}

TEST_F(graphs_on_device, loops_in_loops) {
  const Module m = parsed(std::string(loops) + R"(
kernel refill(left: inout u32[2]) workgroup(1) grid(1) { left[0] = 5 }
graph g(n: u32, x: in u32[], left: inout u32[2], z: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call copy(x, a)
  repeat n {
    call refill(left)
    while left[0] != 0 limit 100 {
      call step(a, b)
      call back(b, left, 100000, a)
    }
  }
  call copy(a, z)
}
)");
  for (const uint32_t n : {0u, 1u, 20u})
    same_graph(m, {bytes(U{n}), bytes(noise(300, 2)), bytes(U{0, 0})});
}

TEST_F(graphs_on_device, grid_barriers_native_and_split) {
  const Module m = parsed(R"(
kernel turn(x: inout u32[]) workgroup(64) grid(len(x)) {
  let v = x[len(x) - 1 - global_id.x]
  barrier grid
  x[global_id.x] = v * 3 + global_id.x
}
kernel add(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] += x[global_id.x] }
graph g(n: u32, x: inout u32[], y: inout u32[len(x)]) {
  call turn(x)
  repeat n {
    call add(x, y)
    call turn(y)
  }
  call turn(x)
}
)");
  for (const uint32_t n : {0u, 1u, 50u})
    same_graph(m, {bytes(U{n}), bytes(noise(2000, 1)), bytes(noise(2000, 2))}, true);
}

TEST_F(graphs_on_device, a_time_limit_stops_an_endless_while) {
  const Module m = parsed(R"(
kernel tick(x: inout u32[2]) workgroup(1) grid(1) { x[1] += 1 }
graph g(x: inout u32[2]) { while x[0] == 0 limit 4000000000 { call tick(x) } }
)");
  interp::GraphInputs inputs;
  inputs.data = {bytes(U{0, 0})};
  inputs.lengths.resize(1);
  RunOptions o;
  o.time_limit = 0.5;
  const auto begin = Clock::now();
  expect_code(run_graph(device(), m, m.graphs[0], inputs, o), Code::TimeLimitExceeded);
  EXPECT_LT(seconds_since(begin), 8);
  still_works();
}

}  // namespace
}  // namespace vyre::driver
