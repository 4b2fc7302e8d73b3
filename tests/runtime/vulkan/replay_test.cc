// Repeated sequences are recorded once; later submissions run the recording unchanged.

#include "ir/graph_launch.h"
#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

const char* chain = R"(
kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 9)
  y[global_id.x] = x[global_id.x] * by
}
kernel neighbour(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + x[global_id.x + 1]
}
graph g(by: u32, x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  buffer u: u32[len(x)]
  call scale(by, x, t)
  call neighbour(t, u)
  call scale(2, u, y)
}
)";

U chain_result(const U& x, uint32_t by) {
  U y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = 2 * (x[i] * by + (i + 1 < x.size() ? x[i + 1] * by : 0));
  return y;
}

class Replays : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (IsSkipped()) return;
    ParseOutcome r = parse(chain);
    ASSERT_TRUE(r.module) << render(r.diagnostics, r.sources);
    const Graph& g = r.module->graphs[0];
    std::vector<std::optional<uint64_t>> counts(g.buffers.size()), scalars(g.buffers.size());
    counts[1] = n;
    scalars[0] = 3;
    const Result<GraphShape> shape = resolve_graph(g, counts, scalars);
    ASSERT_TRUE(shape) << render(shape.errors(), {});
    device_ = failing_.device();
    GraphOptions options;
    options.fuse = false;
    auto made = device_->prepare(*r.module, g, *shape, options);
    ASSERT_TRUE(made) << render(made.errors(), {});
    graph_ = *made;
    x_ = *device_->allocate(n * 4);
    y_ = *device_->allocate(n * 4);
  }
  Result<SubmitReport> run(const U& x, U& y, Buffer from, Buffer to) {
    const auto t = device_->submit(
        {Upload{from, in(x)}, LaunchGraph{graph_, {scalar(3u), from, to}}, Readback{to, out(y)}},
        untimed);
    if (!t) return t.errors();
    return t->wait();
  }
  /// Command buffers that were begun by a run.
  int recorded(const U& x, Buffer from, Buffer to) {
    failing_.heal();
    U y(n);
    const auto r = run(x, y, from, to);
    EXPECT_TRUE(r) << render(r.errors(), {});
    EXPECT_EQ(y, chain_result(x, 3));
    return failing_.calls(Function::BeginCommandBuffer);
  }

  static constexpr uint64_t n = 300;
  inline static const SubmitOptions untimed = {.call_times =
                                                   false};  // of calls; of the whole there is one
  FailingVulkan failing_;
  std::optional<Device> device_;
  GraphExecutable graph_;
  Buffer x_, y_;
};

TEST_F(Replays, are_recorded_once) {
  U x(n, 1);
  recorded(x, x_, y_);
  x[5] = 17;
  EXPECT_EQ(recorded(x, x_, y_), 2) << "the sequence, and what is around it";
  x[7] = 18;
  EXPECT_EQ(recorded(x, x_, y_), 1) << "only what is around it";
  EXPECT_EQ(recorded(U(n, 4), x_, y_), 1);
}

TEST_F(Replays, know_other_buffers_from_those_that_are_gone) {
  for (int round = 0; round < 3; ++round) recorded(U(n, 2), x_, y_);
  ASSERT_TRUE(device_->free(y_));
  const Buffer in_between = *device_->allocate(n * 4);
  y_ = *device_->allocate(n *
                          4);  // somewhere else, perhaps with the place in the table of the old one
  for (int round = 0; round < 3; ++round) recorded(U(n, 3), x_, y_);
  U zeros(n, 1);
  ASSERT_TRUE(device_->submit({Readback{in_between, out(zeros)}})->wait());
  EXPECT_EQ(zeros, U(n)) << "nobody wrote where the old one was";
}

TEST_F(Replays, of_one_sequence_may_be_under_way_at_once) {
  const U x(n, 5);
  for (int round = 0; round < 3; ++round) recorded(x, x_, y_);
  std::vector<U> results(20, U(n));
  std::vector<Ticket> tickets;
  for (U& y : results)
    tickets.push_back(*device_->submit(
        {LaunchGraph{graph_, {scalar(3u), x_, y_}}, Readback{y_, out(y)}}, untimed));
  for (const Ticket& t : tickets) ASSERT_TRUE(t.wait());
  for (const U& y : results) EXPECT_EQ(y, chain_result(x, 3));
}

TEST_F(Replays, tell_of_traps_and_work_again_afterwards) {
  const U good(n, 5);
  U bad(n, 5), y(n);
  bad[70] = 99;
  for (int round = 0; round < 3; ++round) recorded(good, x_, y_);
  for (int round = 0; round < 2; ++round) {
    const auto r = run(bad, y, x_, y_);
    ASSERT_EQ(code_of(r), Code::Trapped);
    EXPECT_NE(message_of(r).find("70, 0, 0"), std::string::npos) << message_of(r);
    recorded(good, x_, y_);
  }
}

TEST_F(Replays, have_a_time) {
  for (int round = 0; round < 3; ++round) recorded(U(n, 2), x_, y_);
  const auto r = device_->submit({LaunchGraph{graph_, {scalar(3u), x_, y_}}}, untimed)->wait();
  ASSERT_TRUE(r);
  EXPECT_GT(r->run_ns, 0u);
  EXPECT_EQ(r->launches, 3u);
}

/// Repeated sequences of dependent launches.
class RepeatedLaunches : public Replays {
 protected:
  void SetUp() override {
    Replays::SetUp();
    if (IsSkipped()) return;
    scale_ = *device_->compile(kernel(chain, 0));
    neighbour_ = *device_->compile(kernel(chain, 1));
    z_ = *device_->allocate(n * 4);
  }
  /// From one buffer to the other and back, times 3 each time; command buffers that were begun.
  int recorded(const U& x) {
    failing_.heal();
    std::vector<Command> commands = {Upload{x_, in(x)}, Launch{neighbour_, {x_, z_}}};
    for (int i = 0; i < 10; ++i)
      commands.push_back(Launch{scale_, {scalar(3u), i % 2 ? y_ : x_, i % 2 ? x_ : y_}});
    U got(n), wanted = x;
    commands.push_back(Readback{x_, out(got)});
    result_ = device_->submit(commands, untimed)->wait();
    for (uint32_t& v : wanted) v *= 59049;
    if (result_) {
      EXPECT_EQ(got, wanted);
    }
    return failing_.calls(Function::BeginCommandBuffer);
  }
  Executable scale_, neighbour_;
  Buffer z_;
  Result<SubmitReport> result_ = SubmitReport{};
};

TEST_F(RepeatedLaunches, are_recorded_once) {
  const int begun[] = {1, 2, 1, 1};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(recorded(U(n, i)), begun[i]);
    ASSERT_TRUE(result_) << render(result_.errors(), {});
    EXPECT_EQ(result_->launches, 11u);
    EXPECT_GT(result_->run_ns, 0u);
  }
}

TEST_F(RepeatedLaunches, tell_of_traps_and_work_again_afterwards) {
  for (uint32_t i = 0; i < 3; ++i) recorded(U(n, 1));
  U bad(n, 1);
  bad[70] = 11;  // 99 in the third launch
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(recorded(bad), 1);
    ASSERT_EQ(code_of(result_), Code::Trapped);
    EXPECT_EQ(message_of(result_), "kernel `scale` trapped with code 9 in invocation (70, 0, 0)");
    EXPECT_EQ(recorded(U(n, 2)), 1);
    ASSERT_TRUE(result_) << render(result_.errors(), {});
  }
}

}  // namespace
}  // namespace vyre::driver
