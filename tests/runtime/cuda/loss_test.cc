// A lost device, and driver calls that fail one after the other.

#include <algorithm>
#include <cstring>
#include <latch>

#include "ir/graph_launch.h"
#include "runtime/cuda/cuda_api.h"
#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

using cuda::Status;

constexpr const char* add_one = R"(
kernel add_one(x: inout u32[]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 7)
  x[global_id.x] += 1
}
)";

TEST(CudaLoss, an_error_that_sticks_loses_the_device_and_nothing_else) {
  fake_cuda::Config config;
  config.devices.resize(2);
  FakeGpu gpu(config);
  gpu.forgive_leaks();
  Device other = gpu.open({}, 1);
  {
    Device d = gpu.open();
    const Executable e = *d.compile(kernel(add_one));
    const Buffer x = *d.allocate(256);
    U back(64, 5);
    gpu.control().fail("cuEventQuery", 1, int(Status::IllegalAddress));
    auto t = d.submit({Launch{e, {x}}, Readback{x, out(back)}});
    ASSERT_TRUE(t);
    const auto r = t->wait();
    EXPECT_EQ(code_of(r), Code::DeviceLost);
    EXPECT_NE(message_of(r).find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos);
    EXPECT_EQ(back, U(64, 5));
    // Every later call returns the error, and none hangs.
    EXPECT_EQ(code_of(d.allocate(16)), Code::DeviceLost);
    EXPECT_EQ(code_of(d.compile(kernel(add_one))), Code::DeviceLost);
    EXPECT_FALSE(d.submit({Fill{x, 0}}));
    const auto again = gpu.try_open();
    EXPECT_EQ(code_of(again), Code::DeviceLost);
    EXPECT_NE(message_of(again).find("still has it"), std::string::npos) << message_of(again);
  }
  // After the last reference to the lost context another one is made, without a reset.
  Device d = gpu.open();
  EXPECT_EQ(gpu.calls("cuDevicePrimaryCtxReset"), 0u);
  const Executable e = *d.compile(kernel(add_one));
  const Buffer x = *d.allocate(256);
  U back(64);
  EXPECT_TRUE(d.submit({Launch{e, {x}}, Readback{x, out(back)}})->wait());
  EXPECT_EQ(back, U(64, 1));
  // The other one never noticed.
  const Buffer y = *other.allocate(256);
  EXPECT_TRUE(other.submit({Launch{*other.compile(kernel(add_one)), {y}}})->wait());
  EXPECT_TRUE(Device::open("interp"));
}

TEST(CudaLoss, a_kernel_that_crashes_fails_those_behind_it_too) {
  FakeGpu gpu;
  gpu.forgive_leaks();
  std::latch both(1);  // is open once both are submitted: a crash may refuse what comes later
  gpu.control().set_executor([&](const fake_cuda::Launch&) {
    both.wait();
    return false;
  });
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(add_one));
  const Buffer x = *d.allocate(256), y = *d.allocate(256);
  SubmitOptions second;
  second.stream = 1;
  const auto a = d.submit({Launch{e, {x}}}), b = d.submit({Fill{y, 1}}, second);
  both.count_down();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(code_of(a->wait()), Code::DeviceLost);
  (void)b->wait();  // before or after: it ends
  EXPECT_TRUE(a->is_done() && b->is_done());
}

/// Retains the primary context as other code of the process does (torch), and has memory in it.
class OtherCode {
 public:
  OtherCode() : api_(*cuda::find_api(nullptr)) {
    EXPECT_EQ(api_.context_retain(&context_, 0), Status::Success);
    api_.context_push(context_);
    EXPECT_EQ(api_.memory_allocate(&memory_, 64), Status::Success);
    api_.context_pop(&context_);
    std::memset(bytes(), 0x5a, 64);  // the fake's device memory is host memory
  }
  ~OtherCode() { api_.context_release(0); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(memory_); }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(memory_); }
  bool has_its_memory() const {
    return std::all_of(bytes(), bytes() + 64, [](std::byte b) { return b == std::byte{0x5a}; });
  }

 private:
  const cuda::Api& api_;
  cuda::ContextHandle context_ = nullptr;
  cuda::DevicePointer memory_ = 0;
};

void lose(FakeGpu& gpu, Device& d) {
  gpu.control().fail("cuMemAllocAsync", 1, int(Status::IllegalAddress));
  EXPECT_EQ(code_of(d.allocate(16)), Code::DeviceLost);
}

TEST(CudaLoss, a_context_that_other_code_uses_is_left_to_it) {
  FakeGpu gpu;
  gpu.forgive_leaks();
  {
    OtherCode other;
    {
      Device d = gpu.open();
      lose(gpu, d);
    }
    const auto again = gpu.try_open();
    EXPECT_EQ(code_of(again), Code::DeviceLost);
    EXPECT_NE(message_of(again).find("other code in this process"), std::string::npos)
        << message_of(again);
    EXPECT_EQ(gpu.calls("cuDevicePrimaryCtxReset"), 0u);
    EXPECT_TRUE(other.has_its_memory());
  }
  Device d = gpu.open();
  EXPECT_TRUE(d.submit({Fill{*d.allocate(256), 1}})->wait());
}

TEST(CudaLoss, kernels_that_are_kept_do_not_keep_a_lost_context) {
  FakeGpu gpu;
  gpu.forgive_leaks();
  std::optional<Executable> early, late;
  {
    Device healthy = gpu.open();
    early = *healthy.compile(kernel(add_one));
  }
  {
    Device d = gpu.open();
    late = *d.compile(kernel(add_one));
    lose(gpu, d);
  }
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(add_one));
  early.reset();
  late.reset();
  const Buffer x = *d.allocate(256);
  U back(64);
  EXPECT_TRUE(d.submit({Launch{e, {x}}, Readback{x, out(back)}})->wait());
  EXPECT_EQ(back, U(64, 1));
}

TEST(CudaLoss, kernels_outlive_their_device) {
  FakeGpu gpu;
  std::optional<Executable> e;
  {
    Device d = gpu.open();
    e = *d.compile(kernel(add_one));
  }
  EXPECT_EQ(gpu.control().modules(), 1u);
  Device again = gpu.open();
  EXPECT_EQ(code_of(again.submit({Launch{*e, {*again.allocate(4)}}})), Code::ForeignBuffer);
}

// ---- Every call of the driver fails once.

const char* graph_source = R"(
kernel step(x: inout u32[]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 7)
  x[global_id.x] += 1
}
graph g(n: u32, x: inout u32[]) {
  call step(x)
  call step(x)
  call step(x)
  call step(x)
}
)";

/// Opens, compiles, copies, launches, replays. Gives what came back, or the error.
Result<U> everything(FakeGpu& gpu) {
  auto opened = gpu.try_open();
  if (!opened) return opened.errors();
  Device d = *opened;
  ParseOutcome parsed = parse(graph_source);
  const Module& m = *parsed.module;
  auto e = d.compile(m.kernels[0]);
  if (!e) return e.errors();
  auto x = d.allocate(256), z = d.allocate(256);
  if (!x) return x.errors();
  if (!z) return z.errors();
  U values(64, 5), back(64);
  auto t = d.submit({Upload{*x, in(values)}, Launch{*e, {*x}}, Copy{*z, *x, 256},
                     Copy{*x, *z, 128, 64, 32}, Fill{*z, 1, 4, 8}});
  if (!t) return t.errors();
  const std::vector<std::optional<uint64_t>> counts = {{}, 64}, scalars = {1, {}};
  GraphOptions apart;
  apart.fuse = false;
  auto g = d.prepare(m, m.graphs[0], *resolve_graph(m.graphs[0], counts, scalars), apart);
  if (!g) return g.errors();
  SubmitOptions untimed;
  untimed.call_times = false;
  untimed.time_limit = 100;
  for (int i = 0; i < 3; ++i) {
    auto r = d.submit({LaunchGraph{*g, {scalar(1u), *x}}}, untimed);
    if (!r) return r.errors();
    if (auto ended = r->wait(); !ended) return ended.errors();
  }
  auto last = d.submit({Readback{*x, out(back)}});
  if (!last) return last.errors();
  if (auto ended = last->wait(); !ended) return ended.errors();
  return back;
}

/// The errors that a failed call may become: coded, with a fix.
void expect_coded(const Diagnostics& errors) {
  ASSERT_FALSE(errors.empty());
  const std::string code = render(errors, {});
  EXPECT_TRUE(code.find("V07") != std::string::npos) << code;
  EXPECT_TRUE(code.find("fix: ") != std::string::npos) << code;
}

void fail_every_call(Status status, bool loses) {
  int failed = 0;
  bool was_reached = true;
  for (int nth = 1; was_reached && !::testing::Test::HasFailure(); ++nth) {
    SCOPED_TRACE(nth);
    FakeGpu gpu;
    if (loses) gpu.forgive_leaks();
    gpu.control().fail(fake_cuda::any_function, nth, int(status));
    const Result<U> r = everything(gpu);
    if (r) {
      EXPECT_EQ(*r, U(64, 18));
    } else {
      ++failed;
      expect_coded(r.errors());
    }
    was_reached = !gpu.control().has_fault();
    // Work whose end cannot be asked for loses the device, whatever the status.
    if (!r && render(r.errors(), {}).find(" was lost: ") != std::string::npos) gpu.forgive_leaks();
    gpu.control().fail(fake_cuda::any_function, 1 << 30, 0);
    const Result<U> again = everything(gpu);
    ASSERT_TRUE(again) << render(again.errors(), {});
    EXPECT_EQ(*again, U(64, 18));
  }
  EXPECT_GT(failed, 40);
}

TEST(CudaLoss, out_of_memory_at_any_call_is_an_error_and_the_next_time_works) {
  fail_every_call(Status::OutOfMemory, false);
}

TEST(CudaLoss, an_invalid_value_at_any_call_is_an_error_and_the_next_time_works) {
  fail_every_call(Status::InvalidValue, false);
}

TEST(CudaLoss, a_loss_at_any_call_is_an_error_and_the_next_time_works) {
  fail_every_call(Status::LaunchFailed, true);
}

}  // namespace
}  // namespace vyre::driver
