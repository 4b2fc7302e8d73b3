// labels: threads
// Graphs on a device against graphs on the interpreter.

#include "runtime/run_graph.h"

#include <gtest/gtest.h>

#include <cstring>

#include "generate/generate.h"
#include "runtime/interp/interp_backend.h"
#include "text/parse.h"

namespace vyre::driver {
namespace {

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

Device open() {
  OpenOptions o;
  o.use_cache = false;
  Result<Device> d = Device::open(*interp_backend(), 0, o);
  EXPECT_TRUE(d);
  return *d;
}

std::vector<std::byte> bytes(const std::vector<uint32_t>& v) {
  std::vector<std::byte> b(v.size() * 4);
  if (!v.empty()) std::memcpy(b.data(), v.data(), b.size());
  return b;
}

std::string text_of(const Diagnostics& errors) { return render(errors, {}); }

/// Expects the same outputs, or exactly the same errors, planned and with one launch per call.
void expect_same(const Module& m, const interp::GraphInputs& inputs,
                 const interp::Options& oracle = {}, RunOptions options = {}) {
  const auto wanted = interp::run(m, m.graphs[0], inputs, oracle);
  for (const bool planned : {true, false}) {
    SCOPED_TRACE(planned ? "planned" : "not planned");
    Device d = open();
    options.fuse = options.reuse = planned;
    options.call_times = true;
    const auto got = run_graph(d, m, m.graphs[0], inputs, options);
    ASSERT_EQ(bool(wanted), bool(got))
        << (wanted ? text_of(got.errors()) : text_of(wanted.errors()));
    if (!wanted) {
      EXPECT_EQ(text_of(wanted.errors()), text_of(got.errors()));
      EXPECT_EQ(d.memory_used(), 0u);
      continue;
    }
    EXPECT_EQ(wanted->buffers, got->buffers);
    EXPECT_EQ(wanted->counts, got->counts);
    if (planned)
      EXPECT_LE(got->calls, wanted->calls);
    else
      EXPECT_EQ(wanted->calls, got->calls);
    EXPECT_EQ(got->call_ns.size(), got->calls);
    EXPECT_EQ(got->device_ns.size(), std::max(1u, options.repeat));
  }
}

/// Doubles until the flag is 0: a loop, a grid from memory, an intermediate.
const char* source = R"(
kernel add(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  if global_id.x < len(x) { y[global_id.x] = x[global_id.x] + by }
}
kernel step(x: in u32[], state: inout u32[2], y: inout u32[len(x)]) workgroup(4) grid(len(x)) {
  if global_id.x < len(x) { y[global_id.x] += x[global_id.x] }
  if global_id.x == 0 {
    state[0] -= 1
    assert(state[0] != 77, 5)
  }
}
graph g(by: u32, x: in u32[], state: inout u32[2], y: inout u32[len(x)], z: out u32[len(x)], n: u32) {
  buffer t: u32[len(x)]
  repeat 2 { call add(by, x, t) }
  while state[0] != 0 limit n { call step(t, state, y) grid(state[1]) }
  call add(1, y, z)
}
)";

interp::GraphInputs inputs_for(uint32_t rounds, uint32_t grid, uint32_t limit) {
  interp::GraphInputs in;
  in.data = {bytes({10}),           bytes({1, 2, 3, 4, 5, 6, 7}),
             bytes({rounds, grid}), bytes({0, 0, 0, 0, 0, 0, 1}),
             std::nullopt,          bytes({limit})};
  in.data.resize(7);
  return in;
}

TEST(run_graph, loops_grids_and_intermediates_are_those_of_the_interpreter) {
  const Module m = parsed(source);
  for (const uint32_t rounds : {0u, 1u, 3u})
    for (const uint32_t grid : {0u, 1u, 5u, 1000u}) {
      expect_same(m, inputs_for(rounds, grid, 10));
      expect_same(m, inputs_for(rounds, grid, 1));  // the limit ends the loop
    }
  expect_same(m, inputs_for(3, 7, 0));
}

TEST(run_graph, every_repeat_starts_from_the_given_inputs) {
  RunOptions three;
  three.repeat = 3;
  expect_same(parsed(source), inputs_for(2, 7, 10), {}, three);
}

TEST(run_graph, errors_are_those_of_the_interpreter) {
  const Module m = parsed(source);
  interp::GraphInputs missing = inputs_for(1, 1, 1);
  missing.data[1].reset();
  expect_same(m, missing);
  interp::GraphInputs odd = inputs_for(1, 1, 1);
  odd.data[1]->pop_back();
  expect_same(m, odd);
  interp::GraphInputs too_many = inputs_for(1, 1, 1);
  too_many.lengths.resize(20);
  expect_same(m, too_many);
  interp::GraphInputs longer = inputs_for(1, 1, 1);
  longer.data[3]->resize(80);
  expect_same(m, longer);
  interp::Options small;
  small.output_limit = 8;
  RunOptions small_too;
  small_too.output_limit = 8;
  expect_same(m, inputs_for(1, 1, 1), small, small_too);
}

TEST(run_graph, a_trap_names_its_stage) {
  const Module m = parsed(source);
  expect_same(m, inputs_for(79, 7, 10));
  Device d = open();
  const auto r = run_graph(d, m, m.graphs[0], inputs_for(79, 7, 10));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::Trapped);
  EXPECT_TRUE(r.errors()[0].message.starts_with("stage 2 (`step`): ")) << r.errors()[0].message;
}

TEST(run_graph, the_time_limit_is_for_all_calls) {
  const Module m = parsed(R"(
kernel spin(x: inout u32[]) workgroup(1) grid(1) {
  var i = 0
  while i < 20000 { i += 1 }
  x[0] += i
}
graph g(x: inout u32[1]) { repeat 1000000 { call spin(x) } }
)");
  Device d = open();
  RunOptions o;
  o.time_limit = 0.2;
  const auto r = run_graph(d, m, m.graphs[0], {{bytes({0})}, {}}, o);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::TimeLimitExceeded);
  EXPECT_TRUE(r.errors()[0].message.starts_with("stage 1 (`spin`): ")) << r.errors()[0].message;
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(run_graph, generated_graphs_agree) {
  int graphs = 0;
  for (uint64_t seed = 0; graphs < 60; ++seed) {
    const lab::Generated g = lab::generate(seed);
    if (!g.is_graph()) continue;
    ++graphs;
    SCOPED_TRACE(seed);
    expect_same(g.module, {g.inputs.data, g.inputs.lengths});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace vyre::driver
