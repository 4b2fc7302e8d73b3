// labels: threads
// Stress test of the CPU runtime: concurrent launches over many threads, traps, deadlines, graphs,
// devices that close. For ThreadSanitizer and AddressSanitizer; the runtime is instrumented,
// compiled kernels are not.

#include <gtest/gtest.h>

#include <thread>

#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/graph_stress_util.h"

namespace vyre::driver {
namespace {

/// More threads than cores: they are interrupted anywhere.
class CpuStress : public testing::Test {
 protected:
  void SetUp() override { setenv("VYRE_CPU_THREADS", "6", 1); }
  void TearDown() override { unsetenv("VYRE_CPU_THREADS"); }
};

Device open_cpu() {
  OpenOptions options;
  options.use_cache = false;
  Result<Device> d = Device::open(*cpu_backend(), 0, options);
  EXPECT_TRUE(d) << render(d.errors(), {});
  return *d;
}

/// Every workgroup does enough for others to be worth their while.
const char* const kernels =
    "kernel mix(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  var a: u32 = y[global_id.x]\n"
    "  for j in 0..2000 { a = a * 1664525 + 1013904223 }\n"
    "  y[global_id.x] = a\n"
    "}\n"
    "kernel trap_from(n: u32, y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  var a: u32 = y[global_id.x]\n"
    "  for j in 0..2000 { a = a * 1664525 + 1013904223 }\n"
    "  assert(global_id.x < n, 9)\n"
    "  y[global_id.x] = a\n"
    "}\n"
    "kernel endless(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  var a: u32 = y[global_id.x]\n"
    "  while true { a = a * 3 + 1\n if a == 0 && y[0] == 12345 { break } }\n"
    "  y[global_id.x] = a\n"
    "}\n";

uint32_t mixed(uint32_t a) {
  for (int i = 0; i < 2000; ++i) a = a * 1664525 + 1013904223;
  return a;
}

TEST_F(CpuStress, launches_traps_and_deadlines_at_once) {
  Device d = open_cpu();
  const Executable mix = *d.compile(kernel(kernels, 0)), trap = *d.compile(kernel(kernels, 1)),
                   endless = *d.compile(kernel(kernels, 2));
  constexpr uint32_t length = 20'000;
  std::atomic<uint32_t> wrong = 0;
  const auto work = [&](uint32_t k) {
    const Buffer y = *d.allocate(length * 4);
    for (uint32_t i = 0; i < 12; ++i) {
      U data(length, i);
      SubmitOptions how;
      how.stream = k;
      how.time_limit = 100;
      const Result<Ticket> good =
          d.submit({Upload{y, in(data)}, Launch{mix, {y}, {}, true}, Readback{y, out(data)}}, how);
      if (!good) {
        ++wrong;
        return;
      }
      while (i % 4 == 0 && !good->is_done()) (void)good->progress();
      if (!good->wait() || data != U(length, mixed(i))) ++wrong;
      if (i % 3 == 0) {
        const uint32_t from = 64 * (i + k) + 7;
        const Result<SubmitReport> bad =
            d.submit({Launch{trap, {uint64_t{from}, y}, {}, true}}, how)->wait();
        // The first one, whichever thread was the first.
        if (bad || bad.errors()[0].code != Code::Trapped ||
            bad.errors()[0].message.find(std::to_string(from)) == std::string::npos)
          ++wrong;
      }
      if (i % 3 == 1) {
        how.time_limit = 0.02;
        const Result<SubmitReport> late =
            d.submit({Fill{y, 0}, Launch{endless, {y}, {}, true}}, how)->wait();
        if (late || late.errors()[0].code != Code::TimeLimitExceeded) ++wrong;
      }
    }
  };
  std::vector<std::thread> hosts;
  for (uint32_t k = 0; k < 4; ++k) hosts.emplace_back(work, k);
  for (std::thread& h : hosts) h.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CpuStress, threads_share_graphs) { EXPECT_EQ(share_graphs(open_cpu(), 4, 15), 0u); }

TEST_F(CpuStress, devices_close_while_they_work) {
  const Program mix = kernel(kernels, 0), endless = kernel(kernels, 2);
  std::vector<std::thread> hosts;
  for (uint32_t k = 0; k < 4; ++k)
    hosts.emplace_back([&, k] {
      for (uint32_t i = 0; i < 4; ++i) {
        Device d = open_cpu();
        const Executable run = *d.compile((i + k) % 2 ? mix : endless);
        const Buffer y = *d.allocate(80'000);
        for (uint32_t stream = 0; stream < 3; ++stream)
          EXPECT_TRUE(d.submit({Launch{run, {y}, {}, true}},
                               {.stream = stream, .time_limit = i % 2 ? 100.0 : 0.0}));
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
      }
    });
  for (std::thread& h : hosts) h.join();
}

}  // namespace
}  // namespace vyre::driver
