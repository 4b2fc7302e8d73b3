// Errors of the machine, the driver and the program, and how the CUDA backend reports them.

#include <cstdlib>

#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

using cuda::Status;

constexpr const char* add_one = R"(
kernel add_one(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }
)";

/// Another library in the driver's place, for as long as it lives.
struct Library {
  explicit Library(const std::string& path) { setenv("VYRE_CUDA_LIBRARY", path.c_str(), 1); }
  ~Library() { unsetenv("VYRE_CUDA_LIBRARY"); }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// The first error, with its notes and fix.
template <class T>
std::string said(const Result<T>& r) {
  return r ? "" : render(r.errors(), {});
}

TEST(CudaErrors, without_a_driver_the_backend_is_not_here) {
  const Library none("/nowhere/libcuda.so.1");
  const auto d = Device::open("cuda");
  EXPECT_EQ(code_of(d), Code::DeviceNotHere);
  EXPECT_TRUE(has(message_of(d), "library cannot be opened")) << message_of(d);
  EXPECT_TRUE(has(message_of(d), "/nowhere/libcuda.so.1"));
  EXPECT_TRUE(Device::open("interp")) << "others go on";
}

TEST(CudaErrors, a_driver_without_our_functions_is_too_old) {
  const Library old(std::string(VYRE_BIN_DIR) + "/../lib/libfake_cuda_old.so");
  const auto d = Device::open("cuda");
  EXPECT_EQ(code_of(d), Code::DeviceNotHere);
  EXPECT_TRUE(has(message_of(d), "of CUDA 9.2, 11.0 is needed")) << message_of(d);
}

TEST(CudaErrors, a_driver_that_does_not_start_says_why) {
  FakeGpu gpu;
  gpu.control().fail("cuInit", 1, 999);
  EXPECT_TRUE(has(message_of(Device::open("cuda")), "does not start: "));
  fake_cuda::Config none;
  none.devices.clear();
  gpu.control().reset(none);
  EXPECT_TRUE(has(message_of(Device::open("cuda")), "the driver sees no device"));
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_TRUE(has(message_of(Device::open("cuda")), "CUDA_VISIBLE_DEVICES is `7`"));
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(CudaErrors, a_device_or_driver_older_than_the_code_is_told_with_both_numbers) {
  fake_cuda::Config config;
  config.devices[0].capability = 61;
  FakeGpu gpu(config);
  const auto d = gpu.try_open();
  EXPECT_EQ(code_of(d), Code::DriverTooOld);
  EXPECT_TRUE(has(message_of(d), "has compute capability 6.1")) << message_of(d);
  EXPECT_TRUE(has(message_of(d), "vyre needs 7.5")) << message_of(d);
  EXPECT_TRUE(has(said(d), "update the driver"));
}

TEST(CudaErrors, text_that_the_driver_does_not_know_is_a_driver_too_old) {
  fake_cuda::Config config;
  config.jit_status = int(Status::UnsupportedPtxVersion);
  config.jit_log = "ptxas fatal : Unsupported .version";
  FakeGpu gpu(config);
  Device d = gpu.open();
  const auto e = d.compile(kernel(add_one));
  EXPECT_EQ(code_of(e), Code::DriverTooOld);
  EXPECT_TRUE(has(message_of(e), "driver of CUDA 13.0, which knows PTX 9.0")) << message_of(e);
  EXPECT_TRUE(has(said(e), "Unsupported .version"));
}

TEST(CudaErrors, code_that_is_rejected_comes_with_the_log_and_its_lines) {
  fake_cuda::Config config;
  config.jit_status = int(Status::InvalidPtx);
  config.jit_log = "ptxas application ptx input, line 2; error : Nothing fits\n\nsecond line";
  FakeGpu gpu(config);
  Device d = gpu.open();
  const auto e = d.compile(kernel(add_one));
  ASSERT_EQ(code_of(e), Code::CodeRejected);
  EXPECT_TRUE(has(message_of(e), "refused the code of `add_one`: CUDA_ERROR_INVALID_PTX (218)"));
  EXPECT_TRUE(has(said(e), "error : Nothing fits; that line is `.target sm_90")) << said(e);
  EXPECT_TRUE(has(said(e), "second line"));
  EXPECT_EQ(e.errors()[0].place.line, 2u);
  EXPECT_EQ(gpu.control().modules(), 0u);
}

TEST(CudaErrors, a_compiler_that_is_not_installed_is_named) {
  fake_cuda::Config config;
  config.jit_status = int(Status::JitCompilerNotFound);
  FakeGpu gpu(config);
  const auto e = gpu.open().compile(kernel(add_one));
  EXPECT_EQ(code_of(e), Code::CodeRejected);
  EXPECT_TRUE(has(said(e), "install libnvidia-ptxjitcompiler"));
}

TEST(CudaErrors, kernels_larger_than_the_device_are_refused) {
  fake_cuda::Config config;
  config.devices[0].shared_bytes_optin = 64 << 10;
  FakeGpu gpu(config);
  Device d = gpu.open();
  const auto shared = [&](uint32_t words) {
    return d.compile(kernel(
        "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n  shared s: u32[" +
        std::to_string(words) + "]\n  s[local_id.x] = y[global_id.x]\n  barrier workgroup\n" +
        "  y[global_id.x] = s[63 - local_id.x]\n}"));
  };
  const auto large = shared(20 << 10);
  EXPECT_EQ(code_of(large), Code::KernelTooLarge);
  EXPECT_TRUE(has(message_of(large), "81920")) << message_of(large);
  EXPECT_TRUE(has(message_of(large), "65536")) << message_of(large);
  EXPECT_TRUE(shared(15 << 10)) << "more than 48 KiB is asked for";
  // The device says that it has so much, and refuses all the same.
  gpu.control().fail("cuFuncSetAttribute", 1, int(Status::InvalidValue));
  const auto refused = shared(14 << 10);
  EXPECT_EQ(code_of(refused), Code::KernelTooLarge);
  EXPECT_TRUE(has(message_of(refused), "57344 bytes of shared memory")) << message_of(refused);
}

TEST(CudaErrors, launches_that_the_device_has_no_room_for_name_the_kernel) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(add_one));
  const Buffer x = *d.allocate(256);
  gpu.control().fail("cuLaunchKernel", 1, int(Status::LaunchOutOfResources));
  const auto r = d.submit({Launch{e, {x}}})->wait();
  EXPECT_EQ(code_of(r), Code::KernelTooLarge);
  EXPECT_TRUE(has(message_of(r), "while `add_one` was launched")) << message_of(r);
  EXPECT_TRUE(d.submit({Fill{x, 0}, Launch{e, {x}}})->wait()) << "the device is usable";
}

TEST(CudaErrors, more_memory_than_the_card_has_is_told_with_numbers) {
  fake_cuda::Config config;
  config.devices[0].memory_bytes = 1 << 20;
  FakeGpu gpu(config);
  Device d = gpu.open();
  EXPECT_EQ(code_of(d.allocate(uint64_t{2} << 20)), Code::DeviceMemoryExceeded);
  const Buffer half = *d.allocate(512 << 10);
  // Another process takes some: the driver itself says no.
  gpu.control().fail("cuMemAllocAsync", 1, int(Status::OutOfMemory), 2);
  const auto more = d.allocate(256 << 10);
  EXPECT_EQ(code_of(more), Code::DeviceMemoryExceeded);
  EXPECT_TRUE(has(message_of(more), "262144 bytes were asked for; ")) << message_of(more);
  EXPECT_TRUE(has(message_of(more), "of 1048576 bytes are free on Fake H200"));
  EXPECT_EQ(gpu.calls("cuMemPoolTrimTo"), 1u) << "the pool was emptied before giving up";
  EXPECT_TRUE(d.allocate(256 << 10));
  EXPECT_TRUE(d.submit({Fill{half, 3}})->wait());
}

TEST(CudaErrors, pieces_that_the_pool_holds_are_given_back_before_giving_up) {
  FakeGpu gpu;
  Device d = gpu.open();
  gpu.control().fail("cuMemAllocAsync", 1, int(Status::OutOfMemory));
  EXPECT_TRUE(d.allocate(1 << 20));
  EXPECT_EQ(gpu.calls("cuMemPoolTrimTo"), 1u);
}

TEST(CudaErrors, an_index_that_is_not_there_is_told) {
  fake_cuda::Config config;
  config.devices.resize(2);
  FakeGpu gpu(config);
  const auto d = Device::open("cuda:2");
  EXPECT_EQ(code_of(d), Code::DeviceIndex);
  EXPECT_TRUE(has(message_of(d), "the backend has 2 devices")) << message_of(d);
  EXPECT_TRUE(Device::open("cuda:1"));
  EXPECT_EQ(code_of(gpu.try_open({}, 5)), Code::DeviceIndex);
}

TEST(CudaErrors, a_context_that_cannot_be_made_is_told) {
  FakeGpu gpu;
  gpu.control().fail("cuDevicePrimaryCtxRetain", 1, int(Status::OutOfMemory));
  EXPECT_EQ(code_of(gpu.try_open()), Code::DeviceMemoryExceeded);
  gpu.control().fail("cuDevicePrimaryCtxRetain", 1, int(Status::DeviceUnavailable));
  EXPECT_EQ(code_of(gpu.try_open()), Code::DeviceLost);
  gpu.control().fail("cuDevicePrimaryCtxRetain", 1, int(Status::InvalidDevice));
  EXPECT_EQ(code_of(gpu.try_open()), Code::DeviceFailed);
  EXPECT_TRUE(gpu.try_open());
}

TEST(CudaErrors, options_of_the_compiler_are_checked) {
  FakeGpu gpu;
  Device d = gpu.open();
  CompileOptions o;
  o.extra = {"min-blocks=many"};
  EXPECT_EQ(code_of(d.compile(kernel(add_one), o)), Code::BadOptionValue);
  o.extra = {"exact-float-add=1", "lines=1", "min-blocks=2"};
  EXPECT_TRUE(d.compile(kernel(add_one), o));
  o.extra = {"min-block=2"};
  EXPECT_EQ(code_of(d.compile(kernel(add_one), o)), Code::UnknownDeviceOption);
}

}  // namespace
}  // namespace vyre::driver
