// Graphs: calls in order, loops, grids from device buffers, and refusals.

#include <numeric>

#include "ir/graph_walk.h"
#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

/// y[i] = x[i] + by, for y: out u32[len(x)].
Program adder() {
  Kernel k(32);
  const uint32_t by = k.buffer(Role::Scalar, Type::U32), x = k.buffer(Role::In, Type::U32),
                 y = k.buffer(Role::Out, Type::U32);
  k.program.name = "adder";
  k.program.buffers[y].count = k.program.formulas.len(x);
  k.program.grid_dims = 1;
  k.program.grid[0] = k.program.formulas.len(y);
  k.store(y, k.gid(), k.add(k.load(x, k.gid()), k.op(Opcode::Scalar, Type::U32, {}, by)));
  return k.finish();
}

/// x[0] -= 1 through a scratch buffer, x[1] += 1.
Program count_down() {
  Kernel k(1);
  const uint32_t x = k.buffer(Role::InOut, Type::U32), t = k.buffer(Role::Scratch, Type::U32, 4);
  k.program.name = "count_down";
  k.grid(1);
  k.store(t, k.u32(3), k.add(k.load(t, k.u32(3)), k.u32(1)));  // zeros in every call
  k.store(x, k.u32(0), k.sub(k.load(x, k.u32(0)), k.load(t, k.u32(3))));
  k.store(x, k.u32(1), k.add(k.load(x, k.u32(1)), k.u32(1)));
  return k.finish();
}

/// Each invocation counts itself in y[0]; the grid is its own 100 at most.
Program counter() {
  Kernel k(1);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 2);
  k.program.name = "counter";
  k.grid(100);
  k.atomic(Opcode::AtomicAdd, y, {k.u32(0), k.u32(1)});
  return k.finish();
}

Program trapper() {
  Kernel k(1);
  const uint32_t x = k.buffer(Role::InOut, Type::U32);
  k.program.name = "trapper";
  k.grid(1);
  k.store(x, k.u32(0), k.u32(99));
  k.trap(k.u32(5));
  return k.finish();
}

class GraphTest : public testing::Test {
 protected:
  GraphTest() {
    m.kernels.push_back(adder());
    m.kernels.push_back(count_down());
    m.kernels.push_back(counter());
    m.kernels.push_back(trapper());
    g.name = "g";
  }
  GraphBufferId buffer(const char* name, Role role, Type t, FormulaId count = no_formula,
                       bool parameter = true) {
    g.buffers.push_back({name, role, t, count, parameter, {}});
    return GraphBufferId(g.buffers.size() - 1);
  }
  GraphNode& call(uint32_t kernel, std::vector<GraphArg> args) {
    GraphNode n;
    n.kernel = kernel;
    n.args = std::move(args);
    n.place = {"g.vyre", static_cast<uint32_t>(10 + g.nodes.size()), 3, 4};
    return nodes.add(std::move(n));
  }
  GraphNode& loop(GraphNodeKind kind, uint64_t n) {
    GraphNode node;
    node.kind = kind;
    node.count = g.formulas.constant(n);
    return nodes.add(std::move(node));
  }
  void end() { nodes.close(); }
  template <class T>
  void give(GraphBufferId b, const std::vector<T>& values) {
    if (!in.data.contains(b)) in.data.resize(b.value() + 1);
    in.data[b] = to_bytes(values);
  }
  GraphOutcome run_it(const Options& o = {}) {
    Result<GraphOutcome> r = run(m, g, in, o);
    if (!r) {
      ADD_FAILURE() << render(r.errors(), {});
      GraphOutcome nothing;
      nothing.buffers.resize(g.buffers.size());
      return nothing;
    }
    return std::move(*r);
  }
  Diagnostic fail_it(const Options& o = {}) {
    Result<GraphOutcome> r = run(m, g, in, o);
    EXPECT_FALSE(r);
    return r ? Diagnostic{} : r.errors()[0];
  }

  Module m;
  Graph g;
  GraphAppender nodes{g};
  GraphInputs in;
};

constexpr uint32_t ADD = 0, DOWN = 1, COUNT = 2, TRAP = 3;

TEST_F(GraphTest, calls_run_one_after_the_other_through_an_intermediate) {
  const auto a = buffer("a", Role::In, Type::U32), s = buffer("s", Role::Scalar, Type::U32);
  const auto b = buffer("b", Role::Out, Type::U32, g.formulas.len(a.value())),
             t = buffer("t", Role::Scratch, Type::U32, g.formulas.len(a.value()), false);
  call(ADD, {{s, 0}, {a, 0}, {t, 0}});
  call(ADD, {{none, 100}, {t, 0}, {b, 0}});
  give<uint32_t>(a, {1, 2, 3});
  give<uint32_t>(s, {10});
  const auto out = run_it();
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[b]), (U{111, 112, 113}));
  EXPECT_TRUE(out.buffers[t].empty());
  EXPECT_EQ(out.calls, 2u);
  EXPECT_EQ(out.counts, (std::vector<uint64_t>{3, 1, 3, 3}));
}

TEST_F(GraphTest, repeat_runs_so_often_and_scratch_is_zero_each_time) {
  const auto x = buffer("x", Role::InOut, Type::U32);
  loop(GraphNodeKind::Repeat, 3);
  loop(GraphNodeKind::Repeat, 4);
  call(DOWN, {{x, 0}});
  end();
  end();
  loop(GraphNodeKind::Repeat, 0);
  call(TRAP, {{x, 0}});
  end();
  give<uint32_t>(x, {100, 0});
  EXPECT_EQ(from_bytes<uint32_t>(run_it().buffers[x]), (U{88, 12}));
}

TEST_F(GraphTest, while_ends_with_its_flag_or_its_limit) {
  for (const uint64_t limit : {3u, 100u}) {
    g.nodes.clear();
    g.buffers.clear();
    const auto x = buffer("x", Role::InOut, Type::U32);
    loop(GraphNodeKind::While, limit).flag = {x, 0};
    call(DOWN, {{x, 0}});
    end();
    give<uint32_t>(x, {7, 0});
    EXPECT_EQ(from_bytes<uint32_t>(run_it().buffers[x]), (limit == 3 ? U{4, 3} : U{0, 7}));
  }
}

TEST_F(GraphTest, while_compares_as_it_says_and_reads_0_outside) {
  const auto x = buffer("x", Role::InOut, Type::U32);
  GraphNode& w = loop(GraphNodeKind::While, 100);
  w.flag = {x, 0};
  w.compare = Opcode::Gt;
  w.bits = 5;
  call(DOWN, {{x, 0}});
  end();
  loop(GraphNodeKind::While, 100).flag = {x, 2};
  call(TRAP, {{x, 0}});
  end();
  give<uint32_t>(x, {8, 0});
  EXPECT_EQ(from_bytes<uint32_t>(run_it().buffers[x]), (U{5, 3}));
}

TEST_F(GraphTest, loops_without_calls_cost_nothing) {
  const auto x = buffer("x", Role::InOut, Type::U32);
  loop(GraphNodeKind::Repeat, ~0ull);
  loop(GraphNodeKind::While, ~0ull).flag = {x, 0};
  end();
  end();
  call(DOWN, {{x, 0}});
  give<uint32_t>(x, {8, 0});
  EXPECT_EQ(run_it().calls, 1u);
}

TEST_F(GraphTest, grid_from_a_device_buffer_is_bounded_by_the_kernels_own) {
  const auto n = buffer("n", Role::In, Type::I32),
             y = buffer("y", Role::Out, Type::U32, g.formulas.constant(2));
  for (const auto& [index, expected] :
       std::vector<std::pair<uint64_t, uint32_t>>{{0, 7}, {1, 100}, {2, 0}, {3, 0}}) {
    g.nodes.clear();
    call(COUNT, {{y, 0}}).grid = {{n, index}};
    give<int32_t>(n, {7, 1000, -1});
    EXPECT_EQ(from_bytes<uint32_t>(run_it().buffers[y])[0], expected) << index;
  }
}

TEST_F(GraphTest, an_out_argument_is_zeros_when_its_call_starts) {
  const auto y = buffer("y", Role::Out, Type::U32, g.formulas.constant(2));
  call(COUNT, {{y, 0}});
  call(COUNT, {{y, 0}});
  EXPECT_EQ(from_bytes<uint32_t>(run_it().buffers[y])[0], 100u);
}

TEST_F(GraphTest, a_trap_names_its_stage) {
  const auto x = buffer("x", Role::InOut, Type::U32);
  call(DOWN, {{x, 0}});
  call(TRAP, {{x, 0}});
  call(DOWN, {{x, 0}});
  give<uint32_t>(x, {8, 0});
  const Diagnostic d = fail_it();
  EXPECT_EQ(d.code, Code::Trapped);
  EXPECT_NE(d.message.find("stage 2 (`trapper`): "), std::string::npos) << d.message;
  EXPECT_NE(d.message.find("code 5"), std::string::npos) << d.message;
  EXPECT_EQ(*in.data[x], to_bytes(U{8, 0}));
}

TEST_F(GraphTest, lengths_that_differ_from_the_kernels_formula_are_refused) {
  const auto a = buffer("a", Role::In, Type::U32),
             b = buffer("b", Role::Out, Type::U32, g.formulas.constant(5));
  call(ADD, {{none, 1}, {a, 0}, {b, 0}});
  give<uint32_t>(a, {1, 2, 3});
  const Diagnostic d = fail_it();
  EXPECT_EQ(d.code, Code::ArgumentLengthDiffers);
  EXPECT_NE(d.message.find("stage 1 (`adder`): "), std::string::npos) << d.message;
  EXPECT_NE(d.message.find('5'), std::string::npos);
  EXPECT_NE(d.message.find('3'), std::string::npos);
  EXPECT_EQ(d.place.line, 10u);
}

TEST_F(GraphTest, one_buffer_for_two_parameters_is_refused_unless_both_read) {
  const auto a = buffer("a", Role::InOut, Type::U32);
  call(ADD, {{none, 1}, {a, 0}, {a, 0}});
  give<uint32_t>(a, {1, 2, 3});
  EXPECT_EQ(fail_it().code, Code::ArgumentsOverlap);
}

TEST_F(GraphTest, too_few_arguments_are_refused) {
  const auto a = buffer("a", Role::InOut, Type::U32);
  call(ADD, {{none, 1}, {a, 0}});
  give<uint32_t>(a, {1, 2, 3});
  EXPECT_EQ(fail_it().code, Code::ArgumentCount);
}

TEST_F(GraphTest, inputs_are_checked_like_a_kernels) {
  const auto a = buffer("a", Role::In, Type::U32);
  buffer("b", Role::Out, Type::U32);
  EXPECT_EQ(fail_it().code, Code::MissingInput);
  give<uint8_t>(a, {1, 2, 3});
  EXPECT_EQ(fail_it().code, Code::NotWholeElements);
  give<uint32_t>(a, {1});
  EXPECT_EQ(fail_it().code, Code::MissingLength);
  in.lengths = {std::nullopt, 3};
  run_it();
  in.data.resize(3);
  EXPECT_EQ(fail_it().code, Code::GraphInputCount);
}

TEST_F(GraphTest, limits_hold_for_all_calls_together) {
  const auto x = buffer("x", Role::InOut, Type::U32);
  loop(GraphNodeKind::Repeat, 1ull << 60);
  call(DOWN, {{x, 0}});
  end();
  give<uint32_t>(x, {8, 0});
  Options o;
  o.time_limit = 0.05;
  EXPECT_EQ(fail_it(o).code, Code::TimeLimitExceeded);
  o = {};
  o.output_limit = 7;
  EXPECT_EQ(fail_it(o).code, Code::OutputLimitExceeded);
  o = {};
  o.memory_limit = 7;
  EXPECT_EQ(fail_it(o).code, Code::MemoryLimitExceeded);
}

}  // namespace
}  // namespace vyre::interp
