// Memory, launches, traps, times and streams of the CUDA backend, on the fake driver.

#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

TEST(Cuda, runs_a_kernel) {
  FakeGpu gpu;
  Device d = gpu.open();
  const auto e = d.compile(kernel(twice));
  ASSERT_TRUE(e) << e.errors()[0].message;
  U x(1000), y(1000);
  for (uint32_t i = 0; i < 1000; ++i) x[i] = i * 7;
  const auto bx = d.allocate(4000), by = d.allocate(4000);
  ASSERT_TRUE(bx && by);
  auto t = d.submit({Upload{*bx, in(x)}, Launch{*e, {*bx, *by}}, Readback{*by, out(y)}});
  ASSERT_TRUE(t) << t.errors()[0].message;
  const auto r = t->wait();
  ASSERT_TRUE(r) << r.errors()[0].message;
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(y[i], i * 14);
}

}  // namespace
}  // namespace vyre::driver
