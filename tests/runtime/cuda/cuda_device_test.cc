// Reported device properties, several devices, large grids and cooperative launches.

#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "runtime/cuda/cuda_loop.h"
#include "runtime/cuda/cuda_util.h"
#include "runtime/cuda/device_info.h"

namespace vyre::driver {
namespace {

TEST(CudaDevices, say_what_they_are_without_a_context) {
  fake_cuda::Config config;
  config.devices.resize(2);
  config.devices[1].name = "Fake T4";
  config.devices[1].capability = 75;
  config.devices[1].memory_bytes = size_t{16} << 30;
  FakeGpu gpu(config);
  const std::vector<DeviceInfo> infos = cuda_backend(nullptr)->probe(nullptr);
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].name, "Fake H200");
  EXPECT_EQ(infos[0].target, "sm_90");
  EXPECT_TRUE(infos[0].driver_version.starts_with("CUDA 13.0"));
  EXPECT_EQ(infos[1].target, "sm_75");
  EXPECT_EQ(infos[1].limits.memory_bytes, uint64_t{16} << 30);
  EXPECT_TRUE(infos[1].limits.native_grid_barrier && infos[1].limits.forward_progress &&
              infos[1].limits.vector_access);
  EXPECT_EQ(gpu.calls("cuDevicePrimaryCtxRetain"), 0u);
}

TEST(CudaDevices, are_chosen_by_index_and_keep_apart) {
  fake_cuda::Config config;
  config.devices.resize(2);
  config.devices[1].name = "Fake T4";
  config.devices[1].capability = 75;
  FakeGpu gpu(config);
  OpenOptions o;
  o.use_cache = false;
  auto first = Device::open("cuda:0", o), second = Device::open("cuda:1", o);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->info().name, "Fake T4");
  const char* source =
      "kernel k(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }";
  for (Device* d : {&*first, &*second, &*first}) {
    const Executable e = *d->compile(kernel(source));
    const Buffer x = *d->allocate(256);
    U back(64);
    const auto r = d->submit({Launch{e, {x}}, Readback{x, out(back)}})->wait();
    ASSERT_TRUE(r) << message_of(r);
    EXPECT_EQ(back, U(64, 1));
  }
  EXPECT_EQ(code_of(second->submit({Fill{*first->allocate(4), 0}})), Code::ForeignBuffer);
}

TEST(CudaDevices, know_the_text_that_their_driver_takes) {
  EXPECT_EQ(cuda::ptx_of_driver(12040), std::pair(8, 4));
  EXPECT_EQ(cuda::ptx_of_driver(12060), std::pair(8, 5));
  EXPECT_EQ(cuda::ptx_of_driver(9020), std::pair(0, 0));
  // An H200 with a driver from before it gets the text of an older device.
  fake_cuda::Config config;
  config.driver_version = 11040;
  FakeGpu gpu(config);
  const auto infos = cuda_backend(nullptr)->probe(nullptr);
  ASSERT_EQ(infos.size(), 1u);
  bool found = false;
  for (const auto& [key, value] : infos[0].properties) found |= value.ends_with("for sm_80");
  EXPECT_TRUE(found);
  EXPECT_TRUE(gpu.open().compile(
      kernel("kernel k(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }")));
}

TEST(CudaDevices, fold_grids_that_are_too_large_for_them) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e =
      *d.compile(kernel("kernel k(x: inout u32[]) workgroup(1) grid(1, 1, 1) { x[num_workgroups.z "
                        "- 1 - workgroup_id.z] += workgroup_id.z }"));
  const Buffer x = *d.allocate(70000 * 4);
  U back(70000);
  Launch l{e, {x}};
  l.grid = {1, 1, 70000};  // the hardware has 65,535
  const auto r = d.submit({l, Readback{x, out(back)}})->wait();
  ASSERT_TRUE(r) << message_of(r);
  for (uint32_t i = 0; i < 70000; ++i) ASSERT_EQ(back[i], 69999 - i);
  EXPECT_EQ(gpu.control().modules(), 2u) << "the folded form is made when it is needed";
}

TEST(CudaDevices, refuse_grids_that_cannot_be_folded) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(
      kernel("kernel k(x: inout u32[]) workgroup(1) grid(1, 1, 1) { atomic_add(x[0], 1) }"));
  // 2^64 of them are 0 in 64 bits, and 2^63 fold into 2^32 rows.
  for (const uint64_t z : {4u, 2u}) {
    const Buffer x = *d.allocate(4);
    Launch l{e, {x}};
    l.grid = {uint64_t{1} << 31, uint64_t{1} << 31, z};
    const auto t = d.submit({l});
    const auto r = t ? t->wait() : Result<SubmitReport>(t.errors());
    ASSERT_FALSE(r) << z;
    EXPECT_EQ(r.errors()[0].code, Code::KernelTooLarge) << message_of(r);  // V0721
  }
  EXPECT_EQ(gpu.calls("cuLaunchKernel"), 0u);
}

// ---- Grid barriers.

constexpr const char* exchange = R"(
kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(1024) grid(len(x)) {
  x[global_id.x] += global_id.x
  barrier grid
  y[global_id.x] = x[len(x) - 1 - global_id.x]
}
)";

void expect_exchange(Device& d, uint32_t n, uint64_t launches) {
  const Executable e = *d.compile(kernel(exchange));
  const Buffer x = *d.allocate(n * 4), y = *d.allocate(n * 4);
  U back(n);
  const auto r = d.submit({Fill{x, 0}, Launch{e, {x, y}}, Readback{y, out(back)}})->wait();
  ASSERT_TRUE(r) << message_of(r);
  EXPECT_EQ(r->launches, launches) << n;
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(back[i], n - 1 - i);
  EXPECT_TRUE(d.free(x) && d.free(y));
}

TEST(CudaGridBarriers, are_cooperative_launches_as_long_as_all_workgroups_fit) {
  fake_cuda::Config config;
  config.devices[0].multiprocessors = 2;  // of 2,048 threads each: 4 workgroups
  FakeGpu gpu(config);
  Device d = gpu.open();
  expect_exchange(d, 4096, 1);
  EXPECT_EQ(gpu.calls("cuLaunchCooperativeKernel"), 1u);
  expect_exchange(d, 5000, 2);  // five of them run split
  EXPECT_EQ(gpu.calls("cuLaunchCooperativeKernel"), 1u);
  expect_exchange(d, 4000, 1);
  EXPECT_EQ(gpu.calls("cuLaunchCooperativeKernel"), 2u);
}

TEST(CudaGridBarriers, are_split_where_the_device_has_no_cooperative_launch) {
  fake_cuda::Config config;
  config.devices[0].cooperative = false;
  FakeGpu gpu(config);
  Device d = gpu.open();
  expect_exchange(d, 2048, 2);
  EXPECT_EQ(gpu.calls("cuLaunchCooperativeKernel"), 0u);
}

TEST(CudaGridBarriers, are_split_if_the_occupancy_cannot_be_asked) {
  FakeGpu gpu;
  Device d = gpu.open();
  gpu.control().fail("cuOccupancyMaxActiveBlocksPerMultiprocessor", 2, 1);  // 1: by compile
  expect_exchange(d, 2048, 2);
  expect_exchange(d, 2048, 1);
}

/// A device that is slow at cooperative launches, or at others.
fake_cuda::Executor slow_at(bool cooperative) {
  return [cooperative](const fake_cuda::Launch& l) {
    if (l.cooperative == cooperative) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return execute(l);
  };
}

TEST(CudaGridBarriers, of_a_named_device_have_the_form_that_calibration_found_faster) {
  setenv("VYRE_CACHE", "off", 1);
  for (const bool native_is_slow : {true, false}) {
    fake_cuda::Config config;  // calibrations are remembered by the device's name
    config.devices[0].name = native_is_slow ? "Slow at barriers" : "Slow at launches";
    FakeGpu gpu(config);
    gpu.control().set_executor(slow_at(native_is_slow));
    Result<Device> named = Device::open("cuda");
    ASSERT_TRUE(named) << named.errors()[0].message;
    EXPECT_EQ(gpu.calls("cuLaunchCooperativeKernel"), 0u) << "measured when a kernel needs it";
    expect_exchange(*named, 2048, native_is_slow ? 2 : 1);
    const uint64_t measured = gpu.calls("cuLaunchCooperativeKernel");
    expect_exchange(*named, 4096, native_is_slow ? 2 : 1);
    EXPECT_LE(gpu.calls("cuLaunchCooperativeKernel"), measured + 1) << "measured once";
    OpenOptions native;
    native.native_grid_barriers = true;
    Result<Device> other = Device::open("cuda", native);
    ASSERT_TRUE(other);
    expect_exchange(*other, 2048, 1);
  }
  unsetenv("VYRE_CACHE");
}

// ---- Registers.

/// How often a kernel of so many invocations is compiled.
uint64_t compiled(FakeGpu& gpu, int invocations, std::vector<std::string> extra = {}) {
  Device d = gpu.open();
  CompileOptions options;
  options.extra = std::move(extra);
  const uint64_t before = gpu.calls("cuLinkComplete");
  const auto e =
      d.compile(kernel(fmt::format("kernel k(x: inout u32[]) workgroup({}) grid(len(x)) {{\n"
                                   "  x[global_id.x] += 1\n}}",
                                   invocations)),
                options);
  EXPECT_TRUE(e);
  return gpu.calls("cuLinkComplete") - before;
}

TEST(CudaRegisters, a_few_fewer_make_room_for_another_workgroup) {
  fake_cuda::Config config;
  config.registers = 42;
  FakeGpu gpu(config);
  EXPECT_EQ(compiled(gpu, 1024), 2u) << "32 would do for two";
  EXPECT_EQ(compiled(gpu, 1024, {"min-blocks=1"}), 1u) << "it was said how many";
  EXPECT_EQ(compiled(gpu, 256), 1u) << "too small to leave much room";
}

TEST(CudaRegisters, stay_where_fewer_make_no_room_or_are_too_few) {
  fake_cuda::Config config;
  for (const int registers : {32, 48, 64}) {  // two fit already; a third less; a half less
    config.registers = registers;
    FakeGpu gpu(config);
    EXPECT_EQ(compiled(gpu, 1024), 1u) << registers;
  }
}

TEST(CudaRegisters, what_would_move_into_memory_is_not_taken) {
  fake_cuda::Config config;
  config.registers = config.least_registers = 42;
  FakeGpu gpu(config);
  Device d = gpu.open();
  const auto e = d.compile(
      kernel("kernel k(x: inout u32[]) workgroup(1024) grid(len(x)) { x[global_id.x] += 1 }"));
  ASSERT_TRUE(e);
  EXPECT_EQ(gpu.calls("cuLinkComplete"), 2u);
  EXPECT_EQ(gpu.calls("cuModuleUnload"), 1u) << "the second one is gone";
}

TEST(CudaRegisters, a_driver_that_refuses_the_second_try_is_no_error) {
  fake_cuda::Config config;
  config.registers = 42;
  for (const char* call : {"cuFuncGetAttribute", "cuOccupancyMaxActiveBlocksPerMultiprocessor"}) {
    FakeGpu gpu(config);
    gpu.control().fail(call, 1, 1);
    EXPECT_EQ(compiled(gpu, 1024), 1u) << call;
  }
  FakeGpu gpu(config);
  gpu.control().fail("cuLinkComplete", 2, 1);
  EXPECT_EQ(compiled(gpu, 1024), 2u);
}

}  // namespace
}  // namespace vyre::driver
