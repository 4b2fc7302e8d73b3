// Graphs: calls that do not match their kernels, and malformed loops.
#include <gtest/gtest.h>

#include <random>

#include "check/check_limits.h"
#include "ir/graph_walk.h"
#include "tests/check/check_kernel_util.h"
#include "text/print.h"

namespace vyre::test {
namespace {

// kernel step(a: u32, x: in u32[], s: scratch u32[len(x)], t: uniform u32[4], y: out u32[len(x)])
Program step_kernel() {
  SsaBuilder b("step");
  FormulaPool& f = b.program.formulas;
  const auto add = [&](const char* name, Role role, FormulaId count) {
    b.program.buffers.push_back({name, role, Type::U32, count, 0, none});
  };
  add("a", Role::Scalar, no_formula);
  add("x", Role::In, no_formula);
  add("s", Role::Scratch, f.len(1));
  add("t", Role::Uniform, f.constant(4));
  add("y", Role::Out, f.len(1));
  b.program.grid = {f.len(1), no_formula, no_formula};
  b.program.grid_dims = 1;
  return b.finish();
}

constexpr GraphBufferId kScalar{0}, kIn{1}, kUniform{2}, kOut{3}, kOwn{4}, kFlag{5};

// graph g(n: u32, x: in u32[], t: uniform u32[4], y: out u32[len(x)]) { buffer b, flag … }
struct TestGraph {
  Module module;
  Graph& graph;
  GraphAppender nodes{graph};

  TestGraph() : graph(module.graphs.emplace_back()) {
    module.kernels.push_back(step_kernel());
    graph.name = "g";
    FormulaPool& f = graph.formulas;
    add("n", Role::Scalar, no_formula);
    add("x", Role::In, no_formula);
    add("t", Role::Uniform, f.constant(4));
    add("y", Role::Out, f.len(kIn.value()));
    add("b", Role::Scratch, f.len(kIn.value()));
    add("flag", Role::Scratch, f.constant(1));
  }

  GraphBufferId add(const char* name, Role role, FormulaId count, Type element = Type::U32) {
    graph.buffers.push_back({name, role, element, count, role != Role::Scratch, {}});
    return GraphBufferId(graph.buffers.size() - 1);
  }

  GraphNode& call(std::vector<GraphArg> args) {
    GraphNode node;
    node.args = std::move(args);
    return nodes.add(std::move(node));
  }
  GraphNode& good_call() { return call({{kScalar}, {kIn}, {kUniform}, {kOwn}}); }
  GraphNode& loop(GraphNodeKind kind, FormulaId count) {
    GraphNode node;
    node.kind = kind;
    node.count = count;
    if (kind == GraphNodeKind::While) node.flag = {kFlag, 0};
    return nodes.add(std::move(node));
  }
  void end() { nodes.close(); }

  Diagnostic expect(Code code) const {
    const Diagnostic error = only_error(check(module), code);
    EXPECT_FALSE(error.fix.empty()) << error.message;
    return error;
  }
  void expect_fine() const {
    const Diagnostics found = check(module);
    EXPECT_FALSE(has_errors(found)) << text(found);
  }
};

TEST(Graphs, calls_and_loops_that_fit) {
  TestGraph g;
  g.good_call();
  g.call({{none, 7}, {kOwn}, {kUniform}, {kOut}});
  g.loop(GraphNodeKind::Repeat, g.graph.formulas.scalar(kScalar.value()));
  g.loop(GraphNodeKind::While, g.graph.formulas.constant(100));
  g.good_call().grid = {{kFlag, 0}};
  g.end();
  g.end();
  g.expect_fine();
}

TEST(Graphs, one_read_only_buffer_may_be_given_twice) {
  TestGraph g;
  g.graph.buffers[kIn].count = g.graph.formulas.constant(4);
  g.call({{kScalar}, {kIn}, {kIn}, {kOwn}});
  g.expect_fine();
}

TEST(Graphs, call_of_a_missing_kernel) {
  TestGraph g;
  g.good_call().kernel = 9;
  g.expect(Code::CalledKernelMissing);
}

TEST(Graphs, too_few_arguments) {
  TestGraph g;
  g.call({{kScalar}, {kIn}, {kOwn}});
  g.expect(Code::CallArgumentCount);
}

TEST(Graphs, argument_for_a_scratch_parameter) {
  TestGraph g;
  g.call({{kScalar}, {kIn}, {kOwn}, {kUniform}, {kOut}});
  g.expect(Code::CallArgumentCount);
}

TEST(Graphs, buffer_for_a_scalar) {
  TestGraph g;
  g.call({{kIn}, {kIn}, {kUniform}, {kOwn}});
  g.expect(Code::CallArgumentKind);
}

TEST(Graphs, constant_for_a_buffer) {
  TestGraph g;
  g.call({{kScalar}, {none, 1}, {kUniform}, {kOwn}});
  g.expect(Code::CallArgumentKind);
}

TEST(Graphs, constant_that_does_not_fit) {
  TestGraph g;
  g.call({{none, 1ull << 32}, {kIn}, {kUniform}, {kOwn}});
  g.expect(Code::ConstantTooWide);
}

TEST(Graphs, arguments_of_another_type) {
  TestGraph g;
  g.graph.buffers[kOwn].element = Type::I32;
  g.good_call();
  g.expect(Code::CallArgumentType);
  TestGraph s;
  s.graph.buffers[kScalar].element = Type::I32;
  s.good_call();
  s.expect(Code::CallArgumentType);
}

TEST(Graphs, output_into_an_input) {
  for (const GraphBufferId target : {kIn, kUniform}) {
    TestGraph g;
    g.call({{kScalar}, {kOwn}, {kUniform}, {target}});
    const Diagnostics found = check(g.module);
    EXPECT_TRUE(has(found, Code::CallWritesInput)) << text(found);
  }
}

TEST(Graphs, one_buffer_read_and_written) {
  TestGraph g;
  g.call({{kScalar}, {kOwn}, {kUniform}, {kOwn}});
  g.expect(Code::CallAliasing);
}

TEST(Graphs, constant_lengths_that_differ) {
  TestGraph g;
  g.graph.buffers[kUniform].count = g.graph.formulas.constant(5);
  g.good_call();
  g.expect(Code::CallArgumentLength);
}

TEST(Graphs, loops_without_a_count) {
  TestGraph g;
  g.loop(GraphNodeKind::Repeat, no_formula);
  g.end();
  g.expect(Code::UnclosedGraphLoop);
}

TEST(Graphs, loops_nested_too_deep) {
  TestGraph g;
  const FormulaId one = g.graph.formulas.constant(1);
  for (uint32_t i = 0; i < limits::nesting; ++i) g.loop(GraphNodeKind::Repeat, one);
  for (uint32_t i = 0; i < limits::nesting; ++i) g.end();
  g.expect_fine();
  for (uint32_t i = 0; i < 100'000; ++i) g.loop(GraphNodeKind::Repeat, one);
  for (uint32_t i = 0; i < 100'000; ++i) g.end();
  g.expect(Code::NestingOverLimit);
}

TEST(Graphs, while_over_a_float) {
  TestGraph g;
  g.graph.buffers[kFlag].element = Type::F32;
  g.loop(GraphNodeKind::While, g.graph.formulas.constant(3));
  g.end();
  g.expect(Code::FlagType);
}

TEST(Graphs, while_with_a_sum_for_a_comparison) {
  TestGraph g;
  g.loop(GraphNodeKind::While, g.graph.formulas.constant(3)).compare = Opcode::Add;
  g.end();
  g.expect(Code::FlagType);
}

TEST(Graphs, while_that_orders_bools) {
  TestGraph g;
  g.graph.buffers[kFlag].element = Type::Bool;
  g.loop(GraphNodeKind::While, g.graph.formulas.constant(3));
  g.end();
  g.expect_fine();
  g.graph.nodes.front().compare = Opcode::Lt;
  g.expect(Code::FlagType);
}

TEST(Graphs, kernel_without_a_grid) {
  TestGraph g;
  g.module.kernels[0].grid_dims = 0;
  g.module.kernels[0].grid[0] = no_formula;
  g.good_call();
  g.expect(Code::CallGrid);
}

TEST(Graphs, grid_from_a_float_or_of_other_dimensions) {
  TestGraph g;
  const GraphBufferId f = g.add("f", Role::Scratch, g.graph.formulas.constant(1), Type::F32);
  g.good_call().grid = {{f, 0}};
  g.expect(Code::CallGrid);
  g.graph.nodes.front().grid = {{kFlag, 0}, {kFlag, 0}};
  g.expect(Code::CallGrid);
}

TEST(Graphs, scratch_parameter_without_a_length) {
  TestGraph g;
  g.module.kernels[0].buffers[2].count = no_formula;
  g.good_call();
  g.expect(Code::ScratchWithoutLength);
}

TEST(Graphs, buffers_with_roles_that_a_graph_has_not) {
  TestGraph g;
  g.graph.buffers[kOwn].role = Role::Shared;
  g.expect(Code::GraphBufferRole);
  TestGraph p;
  p.graph.buffers[kOut].role = Role::Scratch;
  p.expect(Code::GraphBufferRole);
}

TEST(Graphs, own_buffer_without_a_length) {
  TestGraph g;
  g.graph.buffers[kOwn].count = no_formula;
  g.expect(Code::LengthNotConstant);
}

TEST(Graphs, length_of_an_own_buffer) {
  TestGraph g;
  g.graph.buffers[kFlag].count = g.graph.formulas.len(kOwn.value());
  g.expect(Code::FormulaName);
}

TEST(Graphs, duplicate_names) {
  TestGraph g;
  g.graph.buffers[kFlag].name = "b";
  g.expect(Code::DuplicateParameter);
  TestGraph d;
  d.graph.name = "step";
  d.expect(Code::DuplicateDeclaration);
}

TEST(Graphs, broken_arrays) {
  const auto rejects = [](auto damage) {
    TestGraph g;
    g.good_call();
    g.loop(GraphNodeKind::While, g.graph.formulas.constant(3));
    g.end();
    damage(g.graph);
    const Diagnostics found = check(g.module);
    EXPECT_TRUE(has(found, Code::BrokenProgram)) << text(found);
  };
  rejects([](Graph& g) { g.buffers[0].role = static_cast<Role>(50); });
  rejects([](Graph& g) { g.buffers[0].element = static_cast<Type>(50); });
  rejects([](Graph& g) { g.buffers[0].count = 50; });
  rejects([](Graph& g) { g.nodes.front().kind = static_cast<GraphNodeKind>(50); });
  rejects([](Graph& g) { g.nodes.back().count = 50; });
  rejects([](Graph& g) { g.nodes.back().flag.buffer = GraphBufferId(50); });
  rejects([](Graph& g) { g.nodes.front().args[1].buffer = GraphBufferId(50); });
  rejects([](Graph& g) { g.nodes.front().grid = {{GraphBufferId(50), 0}}; });
  rejects([](Graph& g) { g.nodes.front().body.emplace_back(); });
  rejects([](Graph& g) { g.formulas.nodes.push_back({FormulaOp::Add, 9, 9, 0, false}); });
  rejects([](Graph& g) { std::swap(g.buffers[kOut], g.buffers[kOwn]); });
}

TEST(Graphs, calls_of_an_illegal_kernel_are_not_looked_into) {
  TestGraph g;
  g.module.kernels[0].workgroup = {0, 1, 1};
  g.call({});
  g.expect(Code::BadWorkgroup);
}

// One random field of the graph becomes a random small number, or all ones.
void damage(Graph& g, std::mt19937_64& random) {
  const uint64_t raw = random() % 4 ? random() % 12 : ~0ull;
  const auto value = static_cast<uint32_t>(raw);
  GraphBuffer& b = g.buffers[random() % g.buffers.size()];
  std::vector<GraphNode*> nodes;
  for_each_node(g.nodes, [&](GraphNode& node) { nodes.push_back(&node); });
  GraphNode& n = *nodes[random() % nodes.size()];
  FormulaNode& f = g.formulas.nodes[random() % g.formulas.nodes.size()];
  switch (random() % 16) {
    case 0: b.role = static_cast<Role>(value); break;
    case 1: b.element = static_cast<Type>(value); break;
    case 2: b.count = value; break;
    case 3: b.parameter = !b.parameter; break;
    case 4: n.kind = static_cast<GraphNodeKind>(value); break;
    case 5: n.kernel = value; break;
    case 6: n.args.resize(value % 9); break;
    case 7: n.grid.push_back({GraphBufferId(value), raw}); break;
    case 8: n.count = value; break;
    case 9: n.flag.buffer = GraphBufferId(value); break;
    case 10: n.compare = static_cast<Opcode>(raw); break;
    case 11: n.bits = raw; break;
    case 12:
      if (!n.args.empty()) n.args[random() % n.args.size()] = {GraphBufferId(value), raw};
      break;
    case 13: f.op = static_cast<FormulaOp>(value); break;
    case 14: f.a = value; break;
    default: f.b = value; break;
  }
}

TEST(Graphs, twenty_thousand_damaged_ones) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    TestGraph g;
    g.good_call();
    g.loop(GraphNodeKind::While, g.graph.formulas.constant(3));
    g.call({{none, 7}, {kOwn}, {kUniform}, {kOut}}).grid = {{kFlag, 0}};
    g.end();
    std::mt19937_64 random(seed);
    for (uint64_t n = 0; n <= seed % 3; ++n) damage(g.graph, random);
    if (has_errors(check(g.module))) continue;
    ++accepted;
    EXPECT_FALSE(print(g.module).empty());
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 10'000);
}

}  // namespace
}  // namespace vyre::test
