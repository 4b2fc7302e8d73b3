// Loops that run on the device without the host, with and without conditional nodes.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "generate/generate.h"
#include "runtime/cuda/cuda_loop.h"
#include "runtime/cuda/cuda_util.h"
#include "runtime/run_graph.h"

namespace vyre::driver {
namespace {

using cuda::Status;

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

/// Two calls per iteration, one with an output that is cleared each time.
const char* countdown = R"(
kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  if x[global_id.x] != 5 { y[global_id.x] = x[global_id.x] }
}
kernel step(bad: u32, t: in u32[], flag: inout u16[3], x: inout u32[len(t)]) workgroup(32) grid(len(t)) {
  x[global_id.x] = t[global_id.x] * 3 + 1
  if global_id.x == 0 {
    flag[1] -= 1
    assert(u32(flag[1]) != bad, 9)
  }
}
graph g(bad: u32, n: u32, flag: inout u16[3], x: inout u32[]) {
  buffer t: u32[len(x)]
  while flag[1] != 0 limit n {
    call copy(x, t)
    call step(bad, t, flag, x)
  }
}
)";

interp::GraphInputs countdown_inputs(uint32_t bad, uint32_t limit, uint16_t flag) {
  U x(70);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i);
  return {{bytes(U{bad}), bytes(U{limit}), bytes(std::vector<uint16_t>{7, flag, 9}), bytes(x)}, {}};
}

/// The same bytes, counts or errors as by the interpreter.
void expect_same(Device& d, const Module& m, const interp::GraphInputs& inputs) {
  const auto wanted = interp::run(m, m.graphs[0], inputs);
  for (const bool planned : {true, false}) {
    RunOptions options;
    options.fuse = options.reuse = planned;
    const auto got = run_graph(d, m, m.graphs[0], inputs, options);
    ASSERT_EQ(bool(wanted), bool(got)) << render(wanted ? got.errors() : wanted.errors(), {});
    if (!wanted) {
      EXPECT_EQ(render(wanted.errors(), {}), render(got.errors(), {}));
      continue;
    }
    EXPECT_EQ(wanted->buffers, got->buffers);
    if (!planned) {
      EXPECT_EQ(wanted->calls, got->calls);
    }
  }
}

/// All loop tests, on a device that has conditional nodes or only reports them.
void expect_loops(FakeGpu& gpu, bool refused) {
  if (refused) gpu.control().fail("cuGraphAddNode", 1, int(Status::NotSupported), 1 << 30);
  Device d = gpu.open();
  ASSERT_TRUE(d.info().limits.loops);
  const Module m = parsed(countdown);
  for (const uint16_t rounds : {0, 1, 2, 30})
    expect_same(d, m, countdown_inputs(999, 1000, rounds));
  for (const uint32_t limit : {1u, 2u, 17u}) {
    SCOPED_TRACE(limit);
    expect_same(d, m, countdown_inputs(999, limit, 40));
  }
  expect_same(d, m, countdown_inputs(35, 1000, 40));
  expect_same(d, m, countdown_inputs(999, 1000, 4));
  const Module repeat = parsed(R"(
kernel inc(x: inout u32[]) workgroup(32) grid(len(x)) { x[global_id.x] += global_id.x }
graph g(n: u32, x: inout u32[]) { repeat n { call inc(x) } }
)");
  expect_same(d, repeat, {{bytes(U{1100}), bytes(U(40, 1))}, {}});
  EXPECT_EQ(gpu.calls("cuGraphLaunch") > 0, !refused);
}

TEST(CudaLoops, run_on_the_device) {
  FakeGpu gpu;
  expect_loops(gpu, false);
}

TEST(CudaLoops, run_by_the_host_where_a_graph_with_one_is_refused) {
  FakeGpu gpu;
  expect_loops(gpu, true);
  EXPECT_EQ(gpu.calls("cuGraphAddNode"), 1u) << "it is asked once";
}

TEST(CudaLoops, of_a_driver_without_conditional_nodes_are_the_hosts) {
  fake_cuda::Config config;
  config.driver_version = 12030;
  FakeGpu gpu(config);
  Device d = gpu.open();
  EXPECT_FALSE(d.info().limits.loops);
  expect_same(d, parsed(countdown), countdown_inputs(999, 17, 40));
  EXPECT_EQ(gpu.calls("cuGraphAddNode"), 0u);
}

TEST(CudaLoops, that_never_end_are_stopped) {
  const Module m = parsed(R"(
kernel spin(x: inout u32[]) workgroup(1) grid(1) { x[1] += 1 }
graph g(x: inout u32[2]) { while x[0] != 0 limit 4000000000 { call spin(x) } }
)");
  for (const bool refused : {false, true}) {
    FakeGpu gpu;
    if (refused) gpu.control().fail("cuGraphAddNode", 1, int(Status::NotSupported), 1 << 30);
    Device d = gpu.open();
    RunOptions o;
    o.time_limit = 0.2;
    const auto r = run_graph(d, m, m.graphs[0], {{bytes(U{1, 0})}, {}}, o);
    EXPECT_EQ(code_of(r), Code::TimeLimitExceeded);
    EXPECT_TRUE(r.errors()[0].message.starts_with("stage 1 (`spin`): ")) << r.errors()[0].message;
    expect_same(d, parsed(countdown), countdown_inputs(999, 17, 40));
  }
}

TEST(CudaLoops, with_a_trap_go_no_further) {
  // A trapping invocation returns: the flag keeps its value, and only the trap ends the loop.
  const Module m = parsed(R"(
kernel down(x: inout u32[]) workgroup(1) grid(1) {
  assert(x[0] != 3, 4)
  x[0] -= 1
}
graph g(x: inout u32[2]) { while x[0] != 0 limit 4000000000 { call down(x) } }
)");
  for (const bool refused : {false, true}) {
    FakeGpu gpu;
    if (refused) gpu.control().fail("cuGraphAddNode", 1, int(Status::NotSupported), 1 << 30);
    Device d = gpu.open();
    const auto r = run_graph(d, m, m.graphs[0], {{bytes(U{9, 0})}, {}});
    EXPECT_EQ(code_of(r), Code::Trapped);
  }
}

TEST(CudaLoops, that_come_again_have_one_graph) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Module m = parsed(countdown);
  RunOptions apart;
  apart.fuse = false;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(run_graph(d, m, m.graphs[0], countdown_inputs(999, 1000, 5), apart));
  EXPECT_GE(gpu.calls("cuGraphLaunch"), 3u);
  EXPECT_LE(gpu.calls("cuGraphInstantiate"), 3u);
}

TEST(CudaLoops, of_random_graphs_agree) {
  FakeGpu gpu;
  Device d = gpu.open();
  lab::GenerateOptions only;
  only.only_graphs = true;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const lab::Generated g = lab::generate(seed, only);
    SCOPED_TRACE(seed);
    expect_same(d, g.module, {g.inputs.data, g.inputs.lengths});
    if (HasFailure()) return;
  }
  EXPECT_GT(gpu.calls("cuGraphAddNode"), 3u);
}

/// The fake driver does not run the PTX of the deciding kernel; ptxas assembles it if installed.
TEST(CudaLoops, are_decided_by_text_that_ptxas_takes) {
  std::string ptxas = "ptxas";
  const auto answers = [&] {
    return std::system((ptxas + " --version > /dev/null 2>&1").c_str()) == 0;
  };
  if (!answers()) ptxas = "/usr/local/cuda/bin/ptxas";
  if (!answers()) GTEST_SKIP() << "ptxas is not on this machine";
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("vyre_loop_" + std::to_string(::getpid()) + ".ptx");
  std::ofstream(file) << cuda::loop_text();
  for (const char* arch : {"sm_75", "sm_90"}) {
    const std::string command = ptxas + " -c -arch=" + arch + " " + file.string() + " -o /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << arch;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace vyre::driver
