// Stopped launches: at their deadline, because a launch before them trapped, or because the device
// is closed.

#include <thread>

#include "runtime/cuda/cuda_types.h"
#include "runtime/cuda/cuda_util.h"

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

// ---- The stop flag in device memory.

/// Runs `spin` to its deadline, then a launch that must not be stopped.
void expect_stop_and_recovery(FakeGpu& gpu) {
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(spin));
  const Executable add = *d.compile(kernel(
      "kernel add(x: inout u32[], n: u32) workgroup(1) grid(1) { for i in 0..n { x[0] += 1 } }"));
  for (uint32_t i = 1; i <= 2; ++i) {
    const Buffer y = *d.allocate(4), z = *d.allocate(4);
    ASSERT_EQ(code_of(d.submit({Launch{e, {y}}}, limited(0.3))->wait()), Code::TimeLimitExceeded);
    U back(1);
    const auto ok =
        d.submit({Launch{add, {z, scalar(7u)}}, Readback{z, out(back)}}, limited(100))->wait();
    ASSERT_TRUE(ok) << message_of(ok);
    EXPECT_EQ(back[0], 7u);
  }
}

TEST(CudaStop, the_flag_is_written_on_a_stream_that_runs_no_kernels) {
  FakeGpu gpu;
  expect_stop_and_recovery(gpu);
  EXPECT_EQ(gpu.calls("cuStreamWriteValue32"), 4u) << "two stops, two flags cleared";
  EXPECT_EQ(gpu.calls("cuStreamCreateWithPriority"), 1u);
}

TEST(CudaStop, a_driver_that_refuses_to_write_values_copies_the_flag) {
  FakeGpu gpu;
  gpu.control().fail("cuStreamWriteValue32", 1, int(cuda::Status::NotSupported), 1000);
  expect_stop_and_recovery(gpu);
  EXPECT_EQ(gpu.calls("cuStreamWriteValue32"), 1u) << "refused once, then not called again";
}

TEST(CudaStop, a_driver_without_stream_priorities_stops_launches) {
  FakeGpu gpu;
  gpu.control().fail("cuCtxGetStreamPriorityRange", 1, int(cuda::Status::NotSupported), 1000);
  expect_stop_and_recovery(gpu);
  EXPECT_EQ(gpu.calls("cuStreamCreateWithPriority"), 0u);
}

TEST(CudaStop, a_flag_that_cannot_be_set_loses_the_device) {
  FakeGpu gpu;
  {
    Device d = gpu.open();
    const Executable e = *d.compile(kernel(spin));
    const Buffer y = *d.allocate(4);
    const auto t = d.submit({Launch{e, {y}}}, limited(0.3));
    ASSERT_TRUE(t);
    gpu.control().fail("cuStreamWriteValue32", 1, int(cuda::Status::IllegalAddress), 1000);
    EXPECT_EQ(code_of(t->wait()), Code::DeviceLost);
  }
  gpu.forgive_leaks();
}

TEST(CudaStop, a_loop_in_a_replayed_graph_is_stopped_and_replays_again) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e =
      *d.compile(kernel("kernel until(x: in u32[1], y: inout u32[1]) workgroup(1) grid(1) {\n"
                        "  while x[0] == 0 { y[0] += 1 }\n  y[0] += 5\n}"));
  const Buffer x = *d.allocate(4);
  SubmitOptions o = limited(0.5);
  o.call_times = false;
  for (const uint8_t end : {1, 1, 0, 1, 0, 1}) {  // 0: the first launch never ends
    const Buffer y = *d.allocate(4);
    std::vector<Command> all(8, Launch{e, {x, y}});
    ASSERT_TRUE(d.submit({Fill{x, end}, Fill{y, 0}})->wait());
    const auto r = d.submit(all, o)->wait();
    if (!end) {
      EXPECT_EQ(code_of(r), Code::TimeLimitExceeded);
      continue;
    }
    ASSERT_TRUE(r) << message_of(r);
    U back(1);
    ASSERT_TRUE(d.submit({Readback{y, out(back)}})->wait());
    EXPECT_EQ(back[0], 40u);
  }
  EXPECT_GT(gpu.calls("cuGraphLaunch"), 3u);
}

TEST(CudaStop, submissions_in_flight_have_flags_of_their_own) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(spin));
  const Executable until =
      *d.compile(kernel("kernel until(n: u32, y: inout u32[1]) workgroup(1) grid(1) {\n"
                        "  for i in 0..n { y[0] += 1 }\n}"));
  const Buffer a = *d.allocate(4), b = *d.allocate(4);
  SubmitOptions first = limited(0.3), second = limited(100);
  first.stream = 1;
  second.stream = 2;
  const auto late = d.submit({Launch{e, {a}}}, first);
  U back(1);
  // Runs across the deadline of the first one and is not stopped with it.
  const auto fine =
      d.submit({Launch{until, {scalar(400'000u), b}}, Readback{b, out(back)}}, second);
  EXPECT_EQ(code_of(late->wait()), Code::TimeLimitExceeded);
  const auto r = fine->wait();
  ASSERT_TRUE(r) << message_of(r);
  EXPECT_EQ(back[0], 400'000u);
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
