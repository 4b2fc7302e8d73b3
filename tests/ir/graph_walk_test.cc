// Trees of nodes: copies, steps, arguments.
#include "ir/graph_walk.h"

#include <gtest/gtest.h>

namespace vyre {
namespace {

using Kind = GraphStep::Kind;

GraphNode call(uint32_t kernel) { return {.kernel = kernel}; }
GraphNode repeat() { return {.kind = GraphNodeKind::Repeat}; }

/// call 0, repeat { call 1, repeat {} }, call 2
Graph sample() {
  Graph g;
  GraphAppender nodes(g);
  nodes.add(call(0));
  nodes.add(repeat());
  nodes.add(call(1));
  nodes.add(repeat());
  nodes.close();
  nodes.close()->end.line = 9;
  nodes.add(call(2));
  return g;
}

TEST(GraphWalk, steps_stand_in_program_order) {
  const Graph g = sample();
  const GraphSteps steps = flatten(g);
  ASSERT_EQ(steps.size(), 7u);
  const Kind kinds[] = {Kind::Call, Kind::Begin, Kind::Call, Kind::Begin,
                        Kind::End,  Kind::End,   Kind::Call};
  const uint32_t partners[] = {none, 5, none, 4, 3, 1, none};
  const uint32_t depths[] = {0, 0, 1, 1, 1, 0, 0};
  const uint32_t stages[] = {1, 1, 2, 2, 2, 2, 3};
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].kind, kinds[i]) << i;
    EXPECT_EQ(steps[i].partner, partners[i]) << i;
    EXPECT_EQ(steps[i].depth, depths[i]) << i;
    EXPECT_EQ(steps[i].stage, stages[i]) << i;
  }
  EXPECT_EQ(steps[5].node, steps[1].node);
  EXPECT_EQ(steps[5].place().line, 9u);
}

TEST(GraphWalk, calls_are_visited_in_program_order) {
  const Graph g = sample();
  std::vector<uint32_t> kernels;
  for_each_call(g.nodes, [&](const GraphNode& n) { kernels.push_back(n.kernel); });
  EXPECT_EQ(kernels, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(GraphWalk, appender_closes_no_more_than_is_open) {
  Graph g;
  GraphAppender nodes(g);
  nodes.add(repeat());
  EXPECT_EQ(nodes.num_open(), 1u);
  EXPECT_EQ(nodes.close(), &g.nodes.front());
  EXPECT_EQ(nodes.close(), nullptr);
}

// Would overflow the stack if anything recursed.
TEST(GraphWalk, a_million_nested_loops_are_copied_walked_and_destroyed) {
  constexpr size_t depth = 1'000'000;
  Graph g;
  GraphAppender nodes(g);
  for (size_t i = 0; i < depth; ++i) nodes.add(repeat());
  nodes.add(call(7));
  Graph copy = g;
  g = {};
  EXPECT_EQ(flatten(copy).size(), 2 * depth + 1);
  uint32_t kernel = 0;
  for_each_call(copy.nodes, [&](const GraphNode& n) { kernel = n.kernel; });
  EXPECT_EQ(kernel, 7u);
}

TEST(GraphWalk, arguments_leave_scratch_out) {
  Program k;
  k.buffers = {{"a", Role::Scalar, Type::U32, no_formula, 0, none},
               {"s", Role::Scratch, Type::U32, no_formula, 0, none},
               {"m", Role::Shared, Type::U32, no_formula, 0, none},
               {"x", Role::In, Type::U32, no_formula, 0, none}};
  GraphNode n = call(0);
  n.args = {{none, 5}, {.buffer = GraphBufferId(4)}};
  EXPECT_EQ(num_arguments(k), 2u);
  const std::vector<CallArgument> list = arguments(k, n);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].is_scalar());
  EXPECT_EQ(list[1].index, BufferId(3));
  EXPECT_EQ(list[1].given->buffer, GraphBufferId(4));
  n.args.pop_back();  // the checker has not seen it
  EXPECT_EQ(arguments(k, n).size(), 1u);
  n.args.resize(9);
  EXPECT_EQ(arguments(k, n).size(), 2u);
}

}  // namespace
}  // namespace vyre
