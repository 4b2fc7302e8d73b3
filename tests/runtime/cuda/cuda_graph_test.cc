// Sequences that are submitted as CUDA graphs, and graphs that are reused.

#include "ir/graph_launch.h"
#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

using cuda::Status;

constexpr uint32_t n = 64;

SubmitOptions untimed(uint32_t stream = 0) {
  SubmitOptions o;
  o.stream = stream;
  o.call_times = false;
  return o;
}

std::vector<Command> times(uint32_t count, const Executable& e, const Buffer& x, uint32_t by = 3) {
  return std::vector<Command>(count, Launch{e, {scalar(by), x}});
}

constexpr const char* scale = R"(
kernel scale(by: u32, x: inout u32[]) workgroup(64) grid(len(x)) {
  x[global_id.x] = x[global_id.x] * by + 1
}
)";
constexpr const char* checked = R"(
kernel checked(by: u32, x: inout u32[]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 7)
  x[global_id.x] = x[global_id.x] * by + 1
}
)";

/// Launches `commands`, with ones before.
Result<U> run_on(Device& d, const Buffer& x, std::vector<Command> commands, uint32_t value = 1) {
  U values(n, value), back(n);
  if (auto t = d.submit({Upload{x, in(values)}}, untimed()); !t) return t.errors();
  auto t = d.submit(std::move(commands), untimed());
  if (!t) return t.errors();
  auto last = d.submit({Readback{x, out(back)}}, untimed());
  if (auto r = t->wait(); !r) return r.errors();
  if (auto r = last->wait(); !r) return r.errors();
  return back;
}

TEST(CudaGraphs, are_made_of_what_comes_the_second_time) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  for (int i = 0; i < 5; ++i) {
    const auto r = run_on(d, x, times(4, e, x));
    ASSERT_TRUE(r) << message_of(r);
    EXPECT_EQ(*r, U(n, 121));
    EXPECT_EQ(gpu.calls("cuGraphLaunch"), uint64_t(i));
  }
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 4u);
  EXPECT_EQ(gpu.calls("cuGraphInstantiate"), 1u);
  EXPECT_EQ(gpu.calls("cuGraphExecKernelNodeSetParams"), 0u);
  ASSERT_TRUE(run_on(d, x, times(3, e, x)));
  ASSERT_TRUE(run_on(d, x, times(3, e, x)));
  EXPECT_EQ(gpu.control().graphs(), 1u) << "three launches are as fast alone";
}

TEST(CudaGraphs, with_other_data_are_updated_where_it_is_other) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  const auto with = [&](uint32_t by) {  // the last two launches differ
    std::vector<Command> c = times(3, e, x);
    for (int i = 0; i < 2; ++i) c.push_back(Launch{e, {scalar(by), x}});
    return run_on(d, x, std::move(c));
  };
  const auto wanted = [](uint32_t by) { return U(n, (40 * by + 1) * by + 1); };
  for (const uint32_t by : {2u, 2u, 3u, 2u, 3u}) EXPECT_EQ(*with(by), wanted(by));
  EXPECT_EQ(gpu.control().graphs(), 2u) << "two that alternate have a graph each";
  EXPECT_EQ(gpu.calls("cuGraphExecKernelNodeSetParams"), 0u);
  EXPECT_EQ(*with(5), wanted(5));
  EXPECT_EQ(gpu.calls("cuGraphExecKernelNodeSetParams"), 2u);
  EXPECT_EQ(gpu.control().graphs(), 2u);
  // A graph that could not be updated is not launched half changed.
  gpu.control().fail("cuGraphExecKernelNodeSetParams", 2, int(Status::InvalidValue));
  for (const uint32_t by : {6u, 3u, 2u, 5u, 6u}) EXPECT_EQ(*with(by), wanted(by)) << by;
}

TEST(CudaGraphs, that_are_refused_run_as_launches) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  gpu.control().fail("cuGraphInstantiate", 1, int(Status::OutOfMemory), 1 << 30);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*run_on(d, x, times(4, e, x)), U(n, 121));
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 12u);
}

TEST(CudaGraphs, of_an_old_driver_are_launches) {
  fake_cuda::Config config;
  config.driver_version = 12000;
  FakeGpu gpu(config);
  Device d = gpu.open();
  EXPECT_FALSE(d.info().limits.loops) << "loops in graphs came with 12.4";
  const Executable e = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*run_on(d, x, times(4, e, x)), U(n, 121));
}

/// The launch that trapped is named by its own command, wherever the sequence stands.
TEST(CudaGraphs, with_a_trap_name_the_command_and_work_afterwards) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(checked)), f = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run_on(d, x, times(4, e, x)));
  const uint64_t before = gpu.calls("cuGraphLaunch");
  for (const bool shifted : {false, true, false}) {
    U values(n, 98);  // by 1 and 1 more: the second launch traps
    std::vector<Command> c = {Upload{x, in(values)}};
    if (shifted) c.push_back(Upload{x, in(values)});
    for (int i = 0; i < 4; ++i) c.push_back(Launch{e, {scalar(1u), x}});
    const auto r = d.submit(c, untimed())->wait();
    EXPECT_EQ(code_of(r), Code::Trapped);
    EXPECT_NE(message_of(r).find("`checked` trapped with code 7"), std::string::npos)
        << message_of(r);
    ASSERT_TRUE(d.submit({Fill{x, 0}})->wait());
    EXPECT_EQ(*run_on(d, x, times(4, e, x)), U(n, 121)) << "its control blocks are clean again";
  }
  EXPECT_GT(gpu.calls("cuGraphLaunch"), before);
}

TEST(CudaGraphs, in_flight_are_not_shared_if_they_can_trap) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(checked));
  std::vector<Buffer> xs;
  for (int i = 0; i < 6; ++i) xs.push_back(*d.allocate(n * 4));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run_on(d, xs[0], times(4, e, xs[0])));
  for (int round = 0; round < 5; ++round) {
    std::vector<Ticket> tickets;
    U bad(n, 99);
    for (size_t i = 0; i < xs.size(); ++i) {
      ASSERT_TRUE(d.submit({Fill{xs[i], 0}}, untimed(uint32_t(i)))->wait());
      if (i == 3) {
        ASSERT_TRUE(d.submit({Upload{xs[i], in(bad)}}, untimed(uint32_t(i))));
      }
      tickets.push_back(*d.submit(times(4, e, xs[i]), untimed(uint32_t(i))));
    }
    for (size_t i = 0; i < xs.size(); ++i) {
      const auto r = tickets[i].wait();
      EXPECT_EQ(bool(r), i != 3) << i;
    }
  }
}

// ---- Graphs of vyre.

struct Replayed {
  Module m;
  Device d;
  GraphExecutable g;
  Buffer x;

  Replayed(FakeGpu& gpu, const std::string& kernel_source, const char* name, uint32_t calls = 8) {
    std::string source = kernel_source + "graph g(by: u32, x: inout u32[]) {\n";
    for (uint32_t i = 0; i < calls; ++i) source += std::string("  call ") + name + "(by, x)\n";
    m = std::move(*parse(source + "}\n").module);
    d = gpu.open();
    const std::vector<std::optional<uint64_t>> counts = {{}, n}, scalars = {3, {}};
    GraphOptions apart;
    apart.fuse = false;
    g = *d.prepare(m, m.graphs[0], *resolve_graph(m.graphs[0], counts, scalars), apart);
    x = *d.allocate(n * 4);
  }
  Result<U> run(uint32_t value = 1, uint32_t by = 1) {
    return run_on(d, x, {LaunchGraph{g, {scalar(by), x}}}, value);
  }
};

TEST(CudaReplays, are_one_launch_of_one_graph) {
  FakeGpu gpu;
  Replayed r(gpu, scale, "scale");
  ASSERT_TRUE(r.run());
  ASSERT_TRUE(r.run());
  const uint64_t built = gpu.calls("cuGraphAddKernelNode");
  gpu.control().forget_calls();
  for (uint32_t value = 0; value < 10; ++value) EXPECT_EQ(*r.run(value), U(n, value + 8));
  EXPECT_EQ(built, 8u);
  EXPECT_EQ(gpu.calls("cuGraphLaunch"), 10u);
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 0u);
  EXPECT_EQ(gpu.calls("cuGraphAddKernelNode"), 0u);
  EXPECT_EQ(gpu.calls("cuGraphExecKernelNodeSetParams"), 0u);
  EXPECT_EQ(gpu.calls("cuGraphConditionalHandleCreate"), 0u);
}

TEST(CudaReplays, count_launches_and_calls) {
  FakeGpu gpu;
  Replayed r(gpu, scale, "scale");
  for (int i = 0; i < 3; ++i) {
    const auto report = r.d.submit({LaunchGraph{r.g, {scalar(1u), r.x}}}, untimed())->wait();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->launches, 8u);
    EXPECT_EQ(report->call_count, 8u);
  }
}

TEST(CudaReplays, of_few_launches_need_no_graph) {
  FakeGpu gpu;
  Replayed r(gpu, checked, "checked", 2);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(*r.run(i), U(n, i + 2));
  EXPECT_EQ(gpu.calls("cuGraphLaunch"), 0u);
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 8u);
}

TEST(CudaReplays, that_trap_name_their_stage) {
  FakeGpu gpu;
  Replayed r(gpu, checked, "checked");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(r.run());
    const auto bad = r.run(96);
    ASSERT_EQ(code_of(bad), Code::Trapped);
    EXPECT_TRUE(message_of(bad).starts_with("stage 4 (`checked`): ")) << message_of(bad);
  }
  EXPECT_GE(gpu.calls("cuGraphLaunch"), 5u);
}

TEST(CudaReplays, that_follow_each_other_take_turns_with_a_few_graphs) {
  FakeGpu gpu;
  Replayed r(gpu, checked, "checked");
  ASSERT_TRUE(r.run(200));
  std::vector<Ticket> tickets;
  for (int i = 0; i < 12; ++i)
    tickets.push_back(*r.d.submit({LaunchGraph{r.g, {scalar(1u), r.x}}}, untimed()));
  for (const Ticket& t : tickets) EXPECT_TRUE(t.wait());
  EXPECT_LE(gpu.control().graphs(), 4u);
  U back(n);
  ASSERT_TRUE(r.d.submit({Readback{r.x, out(back)}})->wait());
  EXPECT_EQ(back, U(n, 200 + 13 * 8));
}

TEST(CudaReplays, that_cannot_be_built_run_as_launches) {
  FakeGpu gpu;
  Replayed r(gpu, scale, "scale");
  gpu.control().fail("cuGraphInstantiate", 1, int(Status::OutOfMemory), 1 << 30);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(*r.run(i), U(n, i + 8));
  EXPECT_EQ(gpu.calls("cuGraphLaunch"), 0u);
}

TEST(CudaReplays, are_let_go_of_when_there_are_many) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(scale));
  const Buffer x = *d.allocate(n * 4);
  for (uint32_t length = 4; length < 44; ++length)
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(run_on(d, x, times(length, e, x, 1)));
  EXPECT_LE(gpu.control().graphs(), 32u);
  EXPECT_EQ(gpu.calls("cuGraphInstantiate"), 40u);
}

}  // namespace
}  // namespace vyre::driver
