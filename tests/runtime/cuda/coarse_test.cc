// Large launches of small kernels: fewer workgroups, the same bytes.

#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

/// The grids of the launches of a device with room for few threads.
struct Coarse {
  Coarse() : gpu(small()) { device = gpu.open(); }
  static fake_cuda::Config small() {
    fake_cuda::Config c;
    c.devices[0].multiprocessors = 1;
    return c;
  }
  /// y = 2 * x of n elements.
  void run(const Executable& e, uint32_t n, uint64_t copies = 1) {
    U x(n), y(n);
    for (uint32_t i = 0; i < n; ++i) x[i] = i * 7;
    const auto bx = device.allocate(4 * n), by = device.allocate(4 * n);
    ASSERT_TRUE(bx && by);
    std::vector<Command> commands = {Upload{*bx, in(x)}};
    for (uint64_t k = 0; k < copies; ++k) commands.push_back(Launch{e, {*bx, *by}});
    commands.push_back(Readback{*by, out(y)});
    const auto t = device.submit(commands);
    ASSERT_TRUE(t) << message_of(t);
    const auto r = Ticket(*t).wait();
    ASSERT_TRUE(r) << message_of(r);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(y[i], i * 14) << n;
    ASSERT_TRUE(device.free(*bx) && device.free(*by));
  }
  FakeGpu gpu;
  Device device;
};

TEST(CudaCoarse, large_launches_have_fewer_workgroups) {
  Coarse c;
  const auto from = static_cast<uint32_t>(c.device.info().limits.coarse_from);
  ASSERT_GT(from, 64u);
  const auto e = c.device.compile(kernel(twice));
  ASSERT_TRUE(e);
  c.run(*e, from - 64);
  EXPECT_EQ(c.gpu.control().modules(), 1u);  // nothing but the kernel as it is
  EXPECT_EQ(last_grid(), from / 64 - 1);
  for (const uint32_t n : {from, from + 1, from + 63, from + 64, from + 65, 2 * from + 3}) {
    c.run(*e, n);
    EXPECT_EQ(last_grid(), (n + 255) / 256) << n;
  }
  EXPECT_EQ(c.gpu.control().modules(), 2u);
  c.run(*e, 2 * from, 3);
  EXPECT_EQ(c.gpu.control().modules(), 2u);
}

TEST(CudaCoarse, is_made_for_the_only_launch_that_comes) {
  Coarse c;
  LaunchShape shape;
  shape.num_workgroups = {c.device.info().limits.coarse_from / 64, 1, 1};
  const auto coarse = c.device.compile(kernel(twice), {}, &shape);
  ASSERT_TRUE(coarse);
  EXPECT_EQ(coarse->coarse(), 4u);
  EXPECT_EQ(c.gpu.control().modules(), 1u);
  for (const uint32_t n : {0, 1, 255, 256, 257, 5000}) c.run(*coarse, n);  // others are right, too
  --shape.num_workgroups[0];
  const auto plain = c.device.compile(kernel(twice), {}, &shape);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->coarse(), 1u);
}

TEST(CudaCoarse, as_asked) {
  Coarse c;
  CompileOptions options;
  options.extra = {"coarsen=3"};
  const auto always = c.device.compile(kernel(twice), options);
  ASSERT_TRUE(always);
  for (const uint32_t n : {1, 64, 65, 191, 192, 193, 1000}) c.run(*always, n);
  EXPECT_EQ(c.gpu.control().modules(), 2u);
  options.extra = {"coarsen=1"};
  const auto never = c.device.compile(kernel(twice), options);
  ASSERT_TRUE(never);
  c.run(*never, static_cast<uint32_t>(2 * c.device.info().limits.coarse_from));
  EXPECT_EQ(c.gpu.control().modules(), 3u);
  for (const char* bad : {"coarsen=", "coarsen=0", "coarsen=17", "coarsen=4x", "coarsen=-1"}) {
    options.extra = {bad};
    EXPECT_EQ(code_of(c.device.compile(kernel(twice), options)), Code::BadOptionValue) << bad;
  }
}

}  // namespace
}  // namespace vyre::driver
