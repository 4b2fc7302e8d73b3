// Breadth-first search against a queue.

#include <deque>

#include "tests/examples/examples_util.h"

namespace vyre::examples {
namespace {

struct Edges {
  std::vector<std::vector<uint32_t>> of;  // by vertex

  std::vector<uint32_t> offsets() const {
    std::vector<uint32_t> list = {0};
    for (const auto& targets : of) list.push_back(list.back() + uint32_t(targets.size()));
    return list;
  }
  std::vector<uint32_t> targets() const {
    std::vector<uint32_t> list;
    for (const auto& targets : of) list.insert(list.end(), targets.begin(), targets.end());
    return list;
  }
  std::vector<uint32_t> hops_from(uint32_t source) const {
    std::vector<uint32_t> hops(of.size(), ~0u);
    std::deque<uint32_t> queue;
    if (source < of.size()) hops[source] = 0, queue.push_back(source);
    for (; !queue.empty(); queue.pop_front())
      for (const uint32_t t : of[queue.front()])
        if (t < of.size() && hops[t] == ~0u) hops[t] = hops[queue.front()] + 1, queue.push_back(t);
    return hops;
  }
};

void expect_hops(const Module& m, const Edges& e, uint32_t source) {
  const Buffers b = run(m, {scalar(source), bytes(e.offsets()), bytes(e.targets()), std::nullopt});
  EXPECT_EQ(elements<uint32_t>(b[3]), e.hops_from(source)) << e.of.size() << " from " << source;
}

TEST(examples, bfs_counts_the_edges_of_random_graphs) {
  const Module m = load("bfs.vyre");
  for (const size_t n : {0, 1, 2, 255, 256, 257, 1000, 20000})
    for (const size_t degree : {1, 2, 5}) {
      Edges e{std::vector<std::vector<uint32_t>>(n)};
      const auto random = numbers(n * degree * 2, uint32_t(degree));
      // Loops and double edges happen; some vertices have many, some no edges.
      for (size_t i = 0; i + 1 < random.size(); i += 2)
        e.of[(random[i] >> 8) % n].push_back(uint32_t((random[i + 1] >> 8) % n));
      expect_hops(m, e, 0);
      expect_hops(m, e, uint32_t(n / 2));
    }
}

TEST(examples, bfs_walks_a_path_to_its_end) {
  const Module m = load("bfs.vyre");
  for (const size_t n : {2, 257, 600}) {
    Edges e{std::vector<std::vector<uint32_t>>(n)};
    for (uint32_t v = 0; v + 1 < n; ++v) e.of[v] = {v + 1};
    expect_hops(m, e, 0);
    expect_hops(m, e, uint32_t(n) - 1);
  }
}

TEST(examples, bfs_marks_one_vertex_from_many_at_once) {
  const Module m = load("bfs.vyre");
  Edges e{std::vector<std::vector<uint32_t>>(1002)};
  for (uint32_t v = 1; v <= 1000; ++v) e.of[0].push_back(v), e.of[v] = {1001};
  expect_hops(m, e, 0);
}

TEST(examples, bfs_ignores_edges_and_sources_that_do_not_exist) {
  const Module m = load("bfs.vyre");
  Edges e{{{7, 1, ~0u}, {~0u - 1}, {0}}};
  expect_hops(m, e, 0);
  expect_hops(m, e, 3);
  expect_hops(m, e, ~0u);
  // Offsets that point beyond the targets, where zeros would be read.
  const Buffers b = run(m, {scalar(1u), bytes(std::vector<uint32_t>{0, 0, 9}),
                            bytes(std::vector<uint32_t>{1}), std::nullopt});
  EXPECT_EQ(elements<uint32_t>(b[3]), (std::vector<uint32_t>{~0u, 0}));
  EXPECT_EQ(run(m, {scalar(0u), bytes(std::vector<uint32_t>{}), bytes(std::vector<uint32_t>{}),
                    std::nullopt})[3]
                .size(),
            0u);
}

}  // namespace
}  // namespace vyre::examples
