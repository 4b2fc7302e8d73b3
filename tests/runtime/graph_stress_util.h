#pragma once

// Threads that share a device and its graphs, for ThreadSanitizer and AddressSanitizer. The same on
// every backend that runs graphs.

#include <thread>

#include "ir/graph_launch.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {

/// Turns `x` by n[0] places. Only the device knows how often, so a thread of the stream records one
/// round after the other, and the kernel with the barrier needs scratch memory in each.
inline const char* const turning_graph = R"(
kernel turn(x: inout u32[]) workgroup(16) grid(len(x)) {
  let i = global_id.x
  let next = x[(i + 1) % len(x)]
  barrier grid
  if i < len(x) { x[i] = next }
}
kernel less(n: inout u32[1]) workgroup(1) grid(1) {
  n[0] = n[0] - 1
}
graph g(n: inout u32[1], x: inout u32[]) {
  while n[0] != 0 limit 100 { call turn(x)
    call less(n) }
}
)";

/// Each thread runs its own graph or a common one, while the others allocate buffers, prepare
/// graphs and drop them. Returns the number of failures.
inline uint32_t share_graphs(Device d, uint32_t threads, uint32_t rounds) {
  constexpr uint32_t length = 100;
  ParseOutcome parsed = parse(turning_graph);
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources);
  const Module& m = *parsed.module;
  const std::optional<uint64_t> counts[] = {1, length}, scalars[2];
  const Result<GraphShape> shape = resolve_graph(m.graphs[0], counts, scalars);
  const Result<GraphExecutable> common = d.prepare(m, m.graphs[0], *shape);
  EXPECT_TRUE(common) << render(common.errors(), {});
  if (!common) return 1;
  std::atomic<uint32_t> wrong = 0;
  const auto work = [&](uint32_t k) {
    std::vector<Buffer> kept;
    for (uint32_t i = 0; i < rounds; ++i) {
      Result<GraphExecutable> own = i % 3 == 0 ? d.prepare(m, m.graphs[0], *shape) : *common;
      const Result<Buffer> n = d.allocate(4), x = d.allocate(length * 4);
      if (!own || !n || !x) {
        ++wrong;
        return;
      }
      const U times = {(i + k) % 5};
      U data(length), expected(length);
      for (uint32_t j = 0; j < length; ++j) {
        data[j] = 1000 * k + j;
        expected[j] = 1000 * k + (j + times[0]) % length;
      }
      const Result<Ticket> t = d.submit({Upload{*n, in(times)}, Upload{*x, in(data)},
                                         LaunchGraph{*own, {*n, *x}}, Readback{*x, out(data)}},
                                        {.stream = (k + i) % 3});
      own = *common;  // the graph lives as long as its submission
      for (int more = 0; more < 8; ++more)
        kept.push_back(*d.allocate(16));  // the table of buffers grows
      (void)d.memory_used();
      if (!t || !t->wait() || data != expected) ++wrong;
      if (!d.free(*n) || !d.free(*x)) ++wrong;
    }
    for (const Buffer& b : kept)
      if (!d.free(b)) ++wrong;
  };
  std::vector<std::thread> workers;
  for (uint32_t k = 0; k < threads; ++k) workers.emplace_back(work, k);
  for (std::thread& w : workers) w.join();
  EXPECT_EQ(d.memory_used(), common->memory_bytes());
  return wrong;
}

}  // namespace vyre::driver
