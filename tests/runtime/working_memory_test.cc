// Private arrays, and values that live across barriers, count as memory: MemoryNeed::working.

#include <gtest/gtest.h>

#include "ir/graph_launch.h"
#include "runtime/run_graph.h"
#include "sanitizer/sanitizer.h"
#include "tests/runtime/driver_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::driver {
namespace {

constexpr uint64_t elements = 1 << 20;  // of each of 16 invocations: 64 MiB together
constexpr uint64_t array_bytes = 16 * 4 * elements;

const std::string kernels = R"(
kernel large(y: out u32[16]) workgroup(16) grid(16) {
  var t: u32[1048576]
  t[global_id.x] = 1
  y[global_id.x] = t[global_id.x + 1]
}
kernel small(y: out u32[16]) workgroup(16) grid(16) {
  var t: u32[16]
  t[global_id.x] = 1
  y[global_id.x] = t[global_id.x]
}
kernel waits(y: inout u32[]) workgroup(64) grid(len(y)) {
  let v = y[global_id.x]
  barrier grid
  y[global_id.x] = v + y[0]
}
kernel counted(n: in u32[1], y: out u32[16]) workgroup(16) grid(16) {
  var t: u32[1048576]
  t[n[0]] = 1
  y[global_id.x] = t[global_id.x]
}
graph g(y: out u32[16], z: out u32[16]) { call small(z)  call large(y) }
graph of_device(n: in u32[1], y: out u32[16]) { call counted(n, y) grid(n[0]) }
)";

Module module_of_kernels() {
  ParseOutcome r = parse(kernels);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

LaunchInputs output_only() {
  LaunchInputs inputs;
  inputs.data.resize(1);
  inputs.lengths.resize(1);
  return inputs;
}

TEST(working_memory, of_large_private_arrays_is_part_of_the_need) {
  const Module m = module_of_kernels();
  Device d = open();
  const auto large = d.memory_need(*d.compile(m.kernels[0]), output_only());
  ASSERT_TRUE(large);
  EXPECT_GE(large->working, array_bytes);
  EXPECT_LT(large->working, array_bytes + (1 << 20));
  EXPECT_EQ(large->total(), large->parameters + large->working);
  const auto small = d.memory_need(*d.compile(m.kernels[1]), output_only());
  ASSERT_TRUE(small);
  EXPECT_EQ(small->working, 0u);
}

TEST(working_memory, of_all_workgroups_counts_where_they_wait_for_each_other) {
  const Module m = module_of_kernels();
  LaunchInputs inputs = output_only();
  const auto need = [&](Device d, size_t count) {
    inputs.data[0] = bytes(std::vector<uint32_t>(count));
    return d.memory_need(*d.compile(m.kernels[2]), inputs)->working;
  };
  const uint64_t some = need(open(), 64 << 8);
  EXPECT_GT(some, 4u * (64 << 8));
  EXPECT_EQ(need(open(), 64 << 10), 4 * some);
  EXPECT_EQ(need(open_split(), 64 << 10), 0u);  // values are in spill buffers
}

TEST(working_memory, above_the_limit_ends_a_run_before_it_begins) {
  const Module m = module_of_kernels();
  Device d = open();
  RunOptions options;
  options.memory_limit = array_bytes;
  const auto r = run(d, m.kernels[0], output_only(), options);
  EXPECT_EQ(code_of(r), Code::MemoryLimitExceeded);
  EXPECT_NE(message_of(r).find("the buffers and workgroups of kernel `large` need"),
            std::string::npos);
  EXPECT_EQ(d.memory_peak(), 0u);
  options.memory_limit = array_bytes + (1 << 20);
  EXPECT_TRUE(run(d, m.kernels[0], output_only(), options));
}

TEST(working_memory, above_the_limit_ends_a_graph_before_its_first_call) {
  const Module m = module_of_kernels();
  const interp::GraphInputs inputs{{std::nullopt, std::nullopt}, {std::nullopt, std::nullopt}};
  for (const bool planned : {true, false}) {
    Device d = open();
    RunOptions options;
    options.fuse = options.reuse = planned;
    options.memory_limit = array_bytes;
    EXPECT_EQ(code_of(run_graph(d, m, m.graphs[0], inputs, options)), Code::MemoryLimitExceeded);
    EXPECT_EQ(d.memory_peak(), 0u);
    options.memory_limit = array_bytes + (1 << 20);
    EXPECT_TRUE(run_graph(d, m, m.graphs[0], inputs, options));
  }
}

TEST(working_memory, of_a_call_with_a_grid_from_the_device_counts) {
  const Module m = module_of_kernels();
  const interp::GraphInputs inputs{{bytes(std::vector<uint32_t>{16}), std::nullopt},
                                   {std::nullopt, std::nullopt}};
  Device d = open();
  RunOptions options;
  options.memory_limit = array_bytes;
  EXPECT_EQ(code_of(run_graph(d, m, m.graphs[1], inputs, options)), Code::MemoryLimitExceeded);
}

TEST(working_memory, above_what_the_limit_of_the_device_leaves_refuses_a_submission) {
  const Module m = module_of_kernels();
  OpenOptions options;
  options.memory_limit = array_bytes + (2 << 20);
  Device d = open(options);
  const Executable large = *d.compile(m.kernels[0]);
  const GraphShape shape =
      *resolve_graph(m.graphs[0], std::vector<std::optional<std::vector<std::byte>>>(2),
                     std::vector<std::optional<uint64_t>>(2), 0);
  const GraphExecutable graph = *d.prepare(m, m.graphs[0], shape);
  const Buffer y = *d.allocate(64), z = *d.allocate(64);
  Launch launch;
  launch.executable = large;
  launch.arguments = {y};
  EXPECT_TRUE(d.submit({launch})->wait());
  EXPECT_TRUE(d.submit({LaunchGraph{graph, {y, z}}})->wait());
  const Buffer more = *d.allocate(2 << 20);
  EXPECT_EQ(code_of(d.submit({launch})), Code::MemoryLimitExceeded);
  EXPECT_EQ(code_of(d.submit({LaunchGraph{graph, {y, z}}})), Code::MemoryLimitExceeded);
  EXPECT_TRUE(d.free(more));
  EXPECT_TRUE(d.submit({launch})->wait());
}

TEST(working_memory, of_the_sanitizer_is_limited) {
  const Module m = module_of_kernels();
  interp::Options options;
  options.memory_limit =
      array_bytes + (1 << 20);  // the frame, but not the record of what was written
  const interp::Sanitized s = interp::sanitize(m.kernels[0], output_only(), options);
  ASSERT_FALSE(s.errors.empty());
  EXPECT_EQ(s.errors[0].code, Code::MemoryLimitExceeded);
  options.memory_limit = 2 * array_bytes;
  EXPECT_TRUE(interp::sanitize(m.kernels[0], output_only(), options).errors.empty());
}

/// Workgroups of 1,024 have a frame of their own: 64 frames, of 1 GiB each, begin between two looks
/// at the clock.
TEST(working_memory, is_zeroed_only_until_the_deadline) {
  const Program p = kernel(
      "kernel k(y: out u32[1]) workgroup(1024) grid(1048576) {\n  var t: u32[262144]\n"
      "  y[t[global_id.x & 15]] = t[7]\n}\n");
  interp::Options options;
  options.time_limit = 0.05;
  const double before = cpu_seconds();
  const auto r = interp::run(p, output_only(), options);
  EXPECT_EQ(code_of(r), Code::TimeLimitExceeded);
  EXPECT_LT(cpu_seconds() - before, 2.0);
}

TEST(working_memory, of_a_buffer_is_filled_only_until_the_deadline) {
  Device d = open();
  const Buffer large = *d.allocate(uint64_t{1} << 30);
  SubmitOptions options;
  options.time_limit = 0.005;
  EXPECT_EQ(code_of(d.submit({Fill{large, 1}}, options)->wait()), Code::TimeLimitExceeded);
  EXPECT_TRUE(d.is_undefined(large));
}

}  // namespace
}  // namespace vyre::driver
