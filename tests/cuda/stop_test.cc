// Launches that are told to stop: at their deadline, because one before them trapped, or because
// the device is closed.

#include <thread>

#include "cuda/cuda_util.h"

namespace vyre::driver {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

SubmitOptions limited(double seconds) {
  SubmitOptions o;
  o.time_limit = seconds;
  return o;
}

constexpr const char* spin = R"(
kernel spin(y: inout u32[1]) workgroup(1) grid(1) {
  while true {
    y[0] += 1
  }
}
)";

TEST(CudaStop, an_endless_loop_is_stopped_and_its_line_is_named) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(spin));
  const Buffer y = *d.allocate(4), z = *d.allocate(4);
  const auto begin = Clock::now();
  const auto r = d.submit({Fill{y, 0}, Launch{e, {y}}}, limited(0.5))->wait();
  EXPECT_LT(seconds_since(begin), 30);
  ASSERT_EQ(code_of(r), Code::TimeLimitExceeded);
  EXPECT_NE(message_of(r).find("`spin`"), std::string::npos) << message_of(r);
  EXPECT_EQ(r.errors()[0].place.line, 3u);
  EXPECT_TRUE(d.is_undefined(y));
  // The device is usable, and the next launch is not stopped by what is left of this one.
  const Executable add = *d.compile(
      kernel("kernel add(x: inout u32[]) workgroup(1) grid(1) { for i in 0..5 { x[0] += 1 } }"));
  for (int i = 1; i <= 3; ++i) {
    U back(1);
    const auto ok = d.submit({Launch{add, {z}}, Readback{z, out(back)}}, limited(100))->wait();
    ASSERT_TRUE(ok) << message_of(ok);
    EXPECT_EQ(back[0], uint32_t(5 * i));
  }
}

TEST(CudaStop, a_launch_past_its_deadline_does_not_begin) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(spin));
  const Buffer y = *d.allocate(4);
  EXPECT_EQ(code_of(d.submit({Launch{e, {y}}}, limited(1e-9))->wait()), Code::TimeLimitExceeded);
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 0u);
}

TEST(CudaStop, what_ended_in_time_is_not_stopped) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(
      kernel("kernel add(x: inout u32[]) workgroup(1) grid(1) { for i in 0..5 { x[0] += 1 } }"));
  const Buffer x = *d.allocate(4);
  const auto t = d.submit({Launch{e, {x}}}, limited(1));
  while (!t->is_done()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(t->wait()) << "nobody asked in time, but it ended in time";
}

TEST(CudaStop, launches_behind_a_trap_are_stopped_without_a_deadline) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable bad = *d.compile(kernel(
      "kernel bad(x: inout u32[1]) workgroup(1) grid(1) { assert(x[0] == 1, 5)\n x[0] = 1 }"));
  const Executable until =
      *d.compile(kernel("kernel until(x: in u32[1], y: inout u32[1]) workgroup(1) grid(1) {\n"
                        "  while x[0] == 0 { y[0] += 1 }\n}"));
  const Buffer x = *d.allocate(4), y = *d.allocate(4);
  const auto r = d.submit({Launch{bad, {x}}, Launch{until, {x, y}}})->wait();
  ASSERT_EQ(code_of(r), Code::Trapped);
  EXPECT_NE(message_of(r).find("code 5"), std::string::npos) << message_of(r);
}

TEST(CudaStop, closing_the_device_ends_what_is_running) {
  FakeGpu gpu;
  const auto begin = Clock::now();
  {
    Device d = gpu.open();
    const Executable e = *d.compile(kernel(spin));
    ASSERT_TRUE(d.submit({Launch{e, {*d.allocate(4)}}}));
  }
  EXPECT_LT(seconds_since(begin), 30);
}

TEST(CudaStop, a_graph_of_short_launches_that_ends_late_is_late) {
  FakeGpu gpu;
  gpu.control().set_executor([](const fake_cuda::Launch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return true;
  });
  Device d = gpu.open();
  const Executable e =
      *d.compile(kernel("kernel k(x: inout u32[]) workgroup(1) grid(1) { x[0] += 1 }"));
  const Buffer x = *d.allocate(4);
  SubmitOptions o = limited(0.1);
  o.call_times = false;
  for (int i = 0; i < 3; ++i) {  // one by one, then as a graph
    ASSERT_TRUE(d.submit({Fill{x, 0}})->wait());
    const auto r = d.submit(std::vector<Command>(8, Launch{e, {x}}), o)->wait();
    EXPECT_EQ(code_of(r), Code::TimeLimitExceeded) << i;
  }
  EXPECT_GT(gpu.calls("cuGraphLaunch"), 0u);
}

// ---- Streams.

TEST(CudaStreams, run_at_once_unless_they_share_a_buffer) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(spin));
  const Executable add = *d.compile(
      kernel("kernel add(x: inout u32[]) workgroup(1) grid(len(x)) { x[global_id.x] += 1 }"));
  const Buffer y = *d.allocate(4), z = *d.allocate(4);
  SubmitOptions second;
  second.stream = 1;
  const auto slow = d.submit({Launch{e, {y}}}, limited(1.5));
  U back(1);
  EXPECT_TRUE(d.submit({Launch{add, {z}}, Readback{z, out(back)}}, second)->wait());
  EXPECT_EQ(back[0], 1u);
  EXPECT_FALSE(slow->is_done()) << "the other stream did not wait";
  const auto behind = d.submit({Launch{add, {y}}}, second);
  EXPECT_EQ(code_of(slow->wait()), Code::TimeLimitExceeded);
  EXPECT_EQ(code_of(behind->wait()), Code::UndefinedBuffer) << "this one did";
}

TEST(CudaStreams, of_many_threads_keep_their_order) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable add = *d.compile(
      kernel("kernel add(x: inout u32[]) workgroup(64) grid(len(x)) {\n"
             "  assert(x[global_id.x] < 100000, 1)\n  x[global_id.x] = x[global_id.x] * 3 + 1\n}"));
  const Buffer shared = *d.allocate(256);
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (uint32_t s = 0; s < 4; ++s)
    threads.emplace_back([&, s] {
      SubmitOptions o;
      o.stream = s;
      const Buffer own = *d.allocate(256);
      for (int i = 0; i < 20; ++i) {
        U back(64), sum(64);
        const auto t =
            d.submit({Fill{own, 0}, Launch{add, {own}}, Launch{add, {own}}, Launch{add, {own}},
                      Launch{add, {own}}, Fill{shared, uint8_t(s)}, Copy{shared, own, 128},
                      Readback{own, out(back)}, Readback{shared, out(sum)}},
                     o);
        if (!t || !t->wait() || back != U(64, 40) || sum[0] != 40 || sum[63] != s * 0x01010101u)
          ++bad;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace vyre::driver
