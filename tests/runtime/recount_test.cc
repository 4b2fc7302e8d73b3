// Compares the numbers of reports and plans with counts of the commands that a backend received.

#include <fmt/format.h>

#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "opt/analysis/effects.h"
#include "plan/graph_plan.h"
#include "runtime/run_graph.h"
#include "tests/runtime/driver_util.h"
#include "tests/runtime/recording_backend.h"

namespace vyre::driver {
namespace {

Module module_of(const std::string& text) {
  ParseOutcome r = parse(text);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

/// Host inputs of `n` elements 0, 1, …; scalars are `scalar`.
interp::GraphInputs inputs_for(const Graph& g, size_t n, uint32_t scalar = 3) {
  interp::GraphInputs in;
  in.data.resize(g.buffers.size());
  in.lengths.resize(g.buffers.size());
  for (size_t i = 0; i < g.buffers.size() && g.buffers[i].parameter; ++i) {
    std::vector<uint32_t> v(g.buffers[i].role == Role::Scalar ? 1 : n, scalar);
    if (v.size() > 1) std::iota(v.begin(), v.end(), 0u);
    if (is_host_input(g.buffers[i].role)) in.data[i] = bytes(v);
    if (!is_host_input(g.buffers[i].role) && g.buffers[i].count == no_formula) in.lengths[i] = n;
  }
  return in;
}

struct GraphRunRecord {
  Recording backend;
  GraphRunOutcome outcome;
  explicit GraphRunRecord(bool optimizes) : backend(optimizes) {}
};

void run_recorded(GraphRunRecord& r, const Module& m, const interp::GraphInputs& inputs,
                  bool planned) {
  Device d = *Device::open(r.backend, 0);
  RunOptions o;
  o.fuse = o.reuse = planned;
  auto ran = run_graph(d, m, m.graphs[0], inputs, o);
  ASSERT_TRUE(ran) << render(ran.errors(), {});
  r.outcome = std::move(*ran);
}

/// The calls of the graph as they run, by node; for graphs without `while`.
std::vector<uint32_t> calls_in_order(const Graph& g, const GraphSteps& steps,
                                     const GraphShape& shape) {
  std::vector<uint32_t> nodes;
  GraphCursor cursor(g, steps, shape);
  for (;;) {
    const Result<GraphAction> action = cursor.next();
    EXPECT_TRUE(action);
    if (!action || action->kind != GraphAction::Kind::Call) return nodes;
    nodes.push_back(action->node);
  }
}

/// By buffer of the graph: parameters of the kernel of a call.
std::vector<std::pair<BufferId, GraphBufferId>> bound_buffers(const Module& m,
                                                              const GraphNode& node) {
  std::vector<std::pair<BufferId, GraphBufferId>> bound;  // parameter, buffer
  for (const CallArgument& a : arguments(m.kernels[node.kernel], node))
    if (!a.is_scalar() && a.given->buffer != none) bound.emplace_back(a.index, a.given->buffer);
  return bound;
}

/// Bytes that the unplanned run moved of buffers in calls whose group elides them: what a launch
/// loads and stores, by the programs that ran, and what was filled for an `out` argument.
uint64_t recount_avoided(const GraphRunRecord& unplanned, const plan::FusionPlan& plan,
                         const Module& m, const GraphShape& shape) {
  const Graph& g = m.graphs[0];
  const GraphSteps steps = flatten(g);
  const std::vector<uint32_t> nodes = calls_in_order(g, steps, shape);
  std::map<uint32_t, const plan::FusionGroup*> group_of;
  for (const plan::FusionGroup& group : plan.groups)
    for (const uint32_t node : group.calls) group_of[node] = &group;
  uint64_t sum = 0;
  size_t call = 0;
  std::map<MemoryHandle, uint64_t> filled;  // bytes since a call had it as `out`
  std::set<GraphBufferId> seen;  // a graph clears buffers of loops when it begins: not for a call
  for (const DeviceCommand& c : unplanned.backend.commands) {
    if (const auto* fill = c.as<DeviceFill>()) filled[fill->to.memory] += fill->to.bytes;
    const auto* const launch = c.as<DeviceLaunch>();
    if (!launch) continue;
    const uint32_t node = nodes.at(call++);
    const std::vector<GraphBufferId>& elided = group_of.at(node)->elided;
    const opt::EffectSummary effects = opt::Effects(*launch->program).of_program();
    std::map<GraphBufferId, uint64_t> passes;  // by elided buffer: bit 0 loads, bit 1 stores
    for (const auto& [parameter, buffer] : bound_buffers(m, *steps[node].node)) {
      if (!std::count(elided.begin(), elided.end(), buffer)) continue;
      if (effects.reads & bit_of(parameter)) passes[buffer] |= 1;
      if (effects.writes & bit_of(parameter)) passes[buffer] |= 2;
      if (m.kernels[steps[node].node->kernel].buffers[parameter].role != Role::Out) continue;
      uint64_t& bytes = filled[launch->buffers[parameter]];
      if (seen.insert(buffer).second && steps[node].depth > 0) bytes -= shape.bytes(g, buffer);
      sum += std::exchange(bytes, 0);
    }
    for (const auto& [buffer, bits] : passes)
      sum += shape.bytes(g, buffer) * uint64_t(std::popcount(bits));
  }
  EXPECT_EQ(call, nodes.size());
  return sum;
}

const std::string kernels = R"(
kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i < len(x) { y[i] = x[i] * 2 }
}
kernel some(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  if i % 2 == 0 { y[i] = x[i] + 1 }
}
kernel sum3(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = x[i - 1] + x[i] + x[i + 1]
}
kernel add(x: in u32[], y: in u32[], z: out u32[len(x)]) workgroup(64) grid(len(x)) {
  z[global_id.x] = x[global_id.x] + y[global_id.x]
}
kernel more(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] += x[global_id.x]
}
)";

struct Case {
  const char* name;
  std::string graph;
  uint64_t passes_proved, passes_cleared;  // avoided, in passes over a buffer: of all runs
};
const Case cases[] = {
    {"elementwise", R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call twice(x, t)
  call twice(t, y)
})",
     2, 3},
    {"a clear that is needed", R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call some(x, t)
  call twice(t, y)
})",
     3, 3},
    {"recomputed at three indices", R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call twice(x, t)
  call sum3(t, y)
})",
     2, 3},
    {"a diamond, and a buffer that is read twice", R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  buffer a: u32[len(x)]
  buffer b: u32[len(x)]
  call twice(x, t)
  call add(t, t, a)
  call add(t, x, b)
  call add(a, b, y)
})",
     3 + 2 + 2, 3 + 2 + 2 + 3},
    {"updated in place", R"(
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call twice(x, t)
  call more(x, t)
  call twice(t, y)
})",
     1 + 2 + 1, 1 + 2 + 1 + 1},
    {"a loop of twenty iterations", R"(
graph g(x: inout u32[], n: u32) {
  buffer t: u32[len(x)]
  buffer u: u32[len(x)]
  repeat 20 {
    call twice(x, t)
    call twice(t, u)
    call more(u, x)
  }
})",
     20 * 4, 20 * 6},
};

TEST(recount, avoided_bytes_are_accesses_of_the_unplanned_run) {
  for (const Case& c : cases)
    for (const size_t n : {64u, 1000u})
      for (const bool optimizes : {true, false}) {
        const Module m = module_of(kernels + c.graph);
        const Graph& g = m.graphs[0];
        const interp::GraphInputs inputs = inputs_for(g, n);
        const GraphShape shape = *resolve_graph(g, inputs.data, inputs.lengths, 0);
        GraphRunRecord planned(optimizes), unplanned(optimizes);
        run_recorded(planned, m, inputs, true);
        run_recorded(unplanned, m, inputs, false);
        if (::testing::Test::HasFailure()) return;
        const plan::PlannedGraph& p = planned.outcome.graph.planned();
        uint64_t told = 0, once = 0, launches = 0;
        const GraphSteps steps = flatten(p.fused.graph());
        for (uint32_t node = 0, group = 0; node < steps.size(); ++node) {
          if (!steps[node].is_call()) continue;
          const uint64_t bytes = p.plan.fusion.groups[group++].avoided_bytes;
          told += planned.outcome.runs[node] * bytes;
          launches += planned.outcome.runs[node];
          once += bytes;
        }
        const std::string what =
            fmt::format("{}, {} elements, {}", c.name, n, optimizes ? "optimized" : "as written");
        EXPECT_EQ(told, recount_avoided(unplanned, p.plan.fusion, m, shape)) << what;
        EXPECT_EQ(told, n * 4 * (optimizes ? c.passes_proved : c.passes_cleared)) << what;
        EXPECT_EQ(p.plan.fusion.avoided_bytes, once) << what;
        uint64_t launched = 0;
        for (const DeviceCommand& one : planned.backend.commands)
          launched += one.kind() == DeviceCommand::Kind::Launch;
        EXPECT_EQ(launches, launched) << what;
        EXPECT_EQ(planned.outcome.segments, launched) << what;
        EXPECT_EQ(planned.outcome.calls, launched) << what;
        EXPECT_EQ(planned.outcome.buffers, unplanned.outcome.buffers) << what;
      }
}

// ---- Memory.

const char* const memory_graphs[] = {
    // Intermediates of 1,024, 4 and 1,024 bytes that live at the same time.
    R"(
kernel fan(x: in u32[], a: out u32[len(x)], n: out u32[1]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  a[len(x) - 1 - i] = x[i]
  if i == 0 { n[0] = len(x) }
}
kernel turn(x: in u32[], n: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[len(x) - 1 - global_id.x] = x[global_id.x] * n[0]
}
graph g(x: in u32[], y: inout u32[], z: out u32[len(x)]) {
  buffer a: u32[len(x)]
  buffer n: u32[1]
  buffer b: u32[len(x)]
  call fan(x, a, n)
  call turn(a, n, b)
  call turn(b, n, z)
  call more(x, y)
}
)",
    // Spill buffers and scratch buffers.
    R"(
kernel spill(x: inout u32[], s: scratch u32[7]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  let v = x[i] + 1
  if i < 7 { s[i] = v }
  barrier grid
  x[i] = v + x[0] + s[i % 7]
}
graph g(x: inout u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call twice(x, t)
  call spill(t)
  call spill(x)
  call add(t, x, y)
}
)"};

TEST(recount, memory_of_a_graph_is_what_its_run_allocates) {
  for (const char* const text : memory_graphs)
    for (const size_t n : {1u, 64u, 257u, 1000u})
      for (const bool planned : {true, false}) {
        const Module m = module_of(kernels + text);
        const Graph& g = m.graphs[0];
        const interp::GraphInputs inputs = inputs_for(g, n);
        const GraphShape shape = *resolve_graph(g, inputs.data, inputs.lengths, 0);
        Recording backend;
        backend.changed.limits.native_grid_barrier = false;
        GraphOptions how;
        how.fuse = how.reuse = planned;
        MemoryNeed need;
        {
          Device d = *Device::open(backend, 0);
          const auto found = d.memory_need(m, g, shape, how);
          ASSERT_TRUE(found) << render(found.errors(), {});
          need = *found;
          EXPECT_EQ(backend.peak, 0u) << "measuring allocates nothing";
        }
        Device d = *Device::open(backend, 0);
        RunOptions o;
        o.fuse = o.reuse = planned;
        const auto ran = run_graph(d, m, g, inputs, o);
        ASSERT_TRUE(ran) << render(ran.errors(), {});
        EXPECT_EQ(need.total(), backend.peak) << n << text;
        EXPECT_EQ(ran->device_bytes, backend.peak) << n << text;
        const plan::IntermediateMemory memory = plan::intermediate_memory(ran->graph.planned(), g);
        EXPECT_EQ(memory.planned, need.intermediates);
        EXPECT_LE(memory.planned, memory.unplanned);
        if (!planned) {
          EXPECT_EQ(memory.planned, memory.unplanned);
          EXPECT_EQ(ran->graph.unplanned_memory().total(), backend.peak);
        }
      }
}

TEST(recount, a_graph_runs_with_a_limit_of_its_need_and_not_below) {
  for (const char* const text : memory_graphs)
    for (const bool planned : {true, false}) {
      const Module m = module_of(kernels + text);
      const Graph& g = m.graphs[0];
      const interp::GraphInputs inputs = inputs_for(g, 257);
      const GraphShape shape = *resolve_graph(g, inputs.data, inputs.lengths, 0);
      Device d = open_split();
      GraphOptions how;
      how.fuse = how.reuse = planned;
      const uint64_t need = d.memory_need(m, g, shape, how)->total();
      for (const uint64_t limit : {need, need - 1}) {
        how.memory_limit = limit;
        RunOptions o;
        o.fuse = o.reuse = planned;
        o.memory_limit = limit;
        // The device has no more, either.
        OpenOptions open;
        open.split_grid_barriers = true;
        open.memory_limit = limit;
        Device small = *Device::open("interp", open);
        const auto measured = d.memory_need(m, g, shape, how);
        const auto ran = run_graph(small, m, g, inputs, o);
        EXPECT_EQ(bool(measured), limit == need);
        EXPECT_EQ(bool(ran), limit == need) << (ran ? "" : render(ran.errors(), {}));
        if (limit == need) continue;
        EXPECT_EQ(code_of(measured), Code::MemoryLimitExceeded);
        EXPECT_EQ(code_of(ran), Code::MemoryLimitExceeded);
      }
    }
}

TEST(recount, memory_of_a_kernel_is_what_its_run_allocates) {
  const char* const texts[] = {
      "kernel k(a: f32, x: in u32[], y: inout u32[], z: out u32[5]) workgroup(8) grid(len(x)) { "
      "y[global_id.x] = x[global_id.x] + u32(a)\n z[0] = y[0] }",
      // The optimizer drops `unused`, so that it needs no memory.
      "kernel k(a: f32, x: in u32[], y: inout u32[], unused: scratch u32[1000], s: scratch u32[9]) "
      "workgroup(8) grid(len(x)) { s[global_id.x] = x[global_id.x]\n barrier grid\n "
      "y[global_id.x] = s[len(x) - 1 - global_id.x] + u32(a) }",
      "kernel k(a: f32, x: in u32[], y: inout u32[]) workgroup(8) grid(len(x)) { let v = "
      "x[global_id.x] * 3 + y[global_id.x]\n barrier grid\n y[global_id.x] = v + y[0] }"};
  for (const char* const text : texts)
    for (const size_t n : {1u, 9u, 300u}) {
      const Program p = kernel(text);
      LaunchInputs inputs;
      inputs.data.resize(p.buffers.size());
      inputs.lengths.resize(p.buffers.size());
      inputs.data[0] = bytes(std::vector<float>{1});
      inputs.data[1] = inputs.data[2] = bytes(std::vector<uint32_t>(n, 5));
      Recording backend;
      backend.changed.limits.native_grid_barrier = false;
      uint64_t need = 0;
      {
        Device d = *Device::open(backend, 0);
        const auto ran = run(d, p, inputs);
        ASSERT_TRUE(ran) << render(ran.errors(), {});
        need = d.memory_need(*d.compile(p), inputs)->total();
        EXPECT_EQ(need, backend.peak) << n << text;
        EXPECT_EQ(ran->device_bytes, backend.peak) << n << text;
        uint64_t launched = 0;
        for (const DeviceCommand& one : backend.commands)
          launched += one.kind() == DeviceCommand::Kind::Launch;
        EXPECT_EQ(ran->segments, launched) << n << text;
      }
      for (const uint64_t limit : {need, need - 1}) {
        OpenOptions open;
        open.memory_limit = limit;
        Device d = *Device::open(backend, 0, open);
        RunOptions o;
        o.memory_limit = limit;
        const auto ran = run(d, p, inputs, o);
        EXPECT_EQ(bool(ran), limit == need) << n << text;
        if (limit != need) {
          EXPECT_EQ(code_of(ran), Code::MemoryLimitExceeded);
        }
      }
    }
}

TEST(recount, scratch_of_a_grid_from_the_device_counts_when_it_is_known) {
  const Module m = module_of(R"(
kernel spill(x: inout u32[]) workgroup(8) {
  let v = x[global_id.x] + 1
  barrier grid
  x[global_id.x] = v + x[0]
}
graph g(n: in u32[1], x: inout u32[]) { call spill(x) grid(n[0]) }
)");
  const Graph& g = m.graphs[0];
  interp::GraphInputs inputs = inputs_for(g, 300);
  inputs.data[0] = bytes(std::vector<uint32_t>{300});
  Recording backend;
  backend.changed.limits.native_grid_barrier = false;
  uint64_t need = 0;
  {
    Device d = *Device::open(backend, 0);
    RunOptions o;
    o.compile.checked = true;  // a kernel without a grid is not legal here
    const auto ran = run_graph(d, m, g, inputs, o);
    ASSERT_TRUE(ran) << render(ran.errors(), {});
    need = backend.peak;
    EXPECT_EQ(ran->device_bytes, need);
    EXPECT_GE(need, 304u * 4 + 300 * 4 + 4);
  }
  for (const uint64_t limit : {need, need - 1}) {
    OpenOptions open;
    open.memory_limit = limit;
    Device d = *Device::open(backend, 0, open);
    RunOptions o;
    o.memory_limit = limit;
    o.compile.checked = true;
    const auto ran = run_graph(d, m, g, inputs, o);
    EXPECT_EQ(bool(ran), limit == need);
    if (limit != need) {
      EXPECT_EQ(code_of(ran), Code::MemoryLimitExceeded) << message_of(ran);
    }
  }
}

TEST(recount, segments_of_a_kernel_are_launches_of_a_repeat) {
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { for i in 0..7 { let v = "
      "x[global_id.x] + i\n barrier grid\n x[global_id.x] = v + x[0]\n barrier grid } }");
  LaunchInputs inputs;
  inputs.data = {bytes(std::vector<uint32_t>(40, 1))};
  inputs.lengths.resize(1);
  Recording backend;
  backend.changed.limits.native_grid_barrier = false;
  Device d = *Device::open(backend, 0);
  RunOptions o;
  o.repeat = 3;
  const auto ran = run(d, p, inputs, o);
  ASSERT_TRUE(ran) << render(ran.errors(), {});
  uint64_t launched = 0;
  for (const DeviceCommand& one : backend.commands)
    launched += one.kind() == DeviceCommand::Kind::Launch;
  EXPECT_EQ(ran->segments * 3, launched);
  EXPECT_GT(ran->segments, 7u);
}

}  // namespace
}  // namespace vyre::driver
