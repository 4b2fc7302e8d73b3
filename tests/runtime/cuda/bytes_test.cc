// Uploads and readbacks, copies and fills, exhausted pinned memory, and memory kept for reuse.

#include <numeric>

#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

using cuda::Status;

std::vector<uint8_t> pattern(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> v(bytes);
  for (size_t i = 0; i < bytes; ++i) v[i] = uint8_t((i * 2654435761u + seed) >> 13);
  return v;
}

/// Up and back, in one submission.
void expect_round_trip(Device& d, size_t bytes, uint32_t seed) {
  const std::vector<uint8_t> there = pattern(bytes, seed);
  std::vector<uint8_t> back(bytes);
  const Buffer b = *d.allocate(bytes);
  const auto r = d.submit({Upload{b, in(there)}, Readback{b, out(back)}})->wait();
  ASSERT_TRUE(r) << message_of(r);
  EXPECT_EQ(r->uploaded, bytes);
  EXPECT_EQ(r->read_back, bytes);
  EXPECT_TRUE(there == back) << bytes;
  EXPECT_TRUE(d.free(b));
}

TEST(CudaBytes, of_every_size_come_back) {
  FakeGpu gpu;
  Device d = gpu.open();
  constexpr size_t small = 64 << 10, large = 4 << 20;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{3}, size_t{64}, small - 1, small,
                             small + 1, large - 1, large, large + 1, 2 * large, 2 * large + 5})
    expect_round_trip(d, bytes, uint32_t(bytes));
}

TEST(CudaBytes, of_an_upload_longer_than_the_ring_go_round_it) {
  FakeGpu gpu;
  Device d = gpu.open();
  expect_round_trip(d, (size_t{72} << 20) + 12345, 1);  // 16 pieces of 4 MiB go at once
  // 16 pieces up, 19 back; they are used again.
  const size_t pinned = gpu.control().pinned();
  EXPECT_LT(pinned, 40u);
  expect_round_trip(d, (size_t{72} << 20) + 12345, 2);
  EXPECT_EQ(gpu.control().pinned(), pinned);
}

TEST(CudaBytes, of_small_uploads_share_a_pinned_block) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Buffer b = *d.allocate(100 * 64);
  std::vector<uint8_t> there = pattern(100 * 64, 3), back(100 * 64);
  std::vector<Command> commands;
  for (size_t i = 0; i < 100; ++i)
    commands.push_back(Upload{b, std::as_bytes(std::span(there)).subspan(i * 64, 64), i * 64});
  commands.push_back(Readback{b, out(back)});
  ASSERT_TRUE(d.submit(std::move(commands))->wait());
  EXPECT_TRUE(there == back);
  EXPECT_EQ(gpu.calls("cuMemHostAlloc"), 1u);
}

TEST(CudaBytes, go_without_pinned_memory_if_there_is_none) {
  FakeGpu gpu;
  Device d = gpu.open();
  gpu.control().fail("cuMemHostAlloc", 1, int(Status::OutOfMemory), 1 << 30);
  for (const size_t bytes : {size_t{100}, size_t{100} << 10, size_t{9} << 20})
    expect_round_trip(d, bytes, 7);
  EXPECT_EQ(gpu.calls("cuMemHostRegister"), 3u);
  gpu.control().fail("cuMemHostRegister", 1, int(Status::NotSupported), 1 << 30);
  expect_round_trip(d, 100 << 10, 8);
}

TEST(CudaBytes, that_overlap_themselves_are_copied_through_other_memory) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Buffer b = *d.allocate(1024);
  for (const auto& [to, from] : {std::pair{0, 10}, {10, 0}, {300, 301}, {5, 5}, {0, 512}}) {
    std::vector<uint8_t> there = pattern(1024, 5), back(1024);
    const auto r = d.submit({Upload{b, in(there)}, Copy{b, b, 500, uint64_t(to), uint64_t(from)},
                             Readback{b, out(back)}})
                       ->wait();
    ASSERT_TRUE(r) << message_of(r);
    std::memmove(there.data() + to, there.data() + from, 500);
    EXPECT_TRUE(there == back) << to << " " << from;
  }
}

TEST(CudaBytes, are_filled_at_any_place) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Buffer b = *d.allocate(64);
  for (const uint64_t offset : {0u, 1u, 4u, 6u, 60u})
    for (const uint64_t bytes : {0u, 1u, 3u, 4u}) {
      std::vector<uint8_t> back(64), wanted(64, 9);
      std::fill_n(wanted.begin() + long(offset), bytes, uint8_t(0xab));
      ASSERT_TRUE(
          d.submit({Fill{b, 9}, Fill{b, 0xab, offset, bytes}, Readback{b, out(back)}})->wait());
      EXPECT_TRUE(back == wanted) << offset << " " << bytes;
    }
  EXPECT_GT(gpu.calls("cuMemsetD8Async"), 0u);
  EXPECT_GT(gpu.calls("cuMemsetD32Async"), 0u);
}

TEST(CudaBytes, of_new_buffers_are_zeros) {
  for (const bool pools : {true, false}) {
    fake_cuda::Config config;
    config.devices[0].pools = pools;
    FakeGpu gpu(config);
    Device d = gpu.open();
    for (const uint64_t bytes : {1u, 7u, 4096u}) {
      std::vector<uint8_t> back(bytes, 1);
      const Buffer b = *d.allocate(bytes);
      ASSERT_TRUE(d.submit({Readback{b, out(back)}})->wait());
      EXPECT_TRUE(back == std::vector<uint8_t>(bytes, 0));
      ASSERT_TRUE(d.submit({Fill{b, 0xff}})->wait());
      EXPECT_TRUE(d.free(b));  // what comes next may be here
    }
    EXPECT_EQ(gpu.calls("cuMemAlloc") > 0, !pools);
    EXPECT_EQ(gpu.calls("cuMemAllocAsync") > 0, pools);
  }
}

TEST(CudaBytes, of_the_device_are_given_back_when_it_closes) {
  FakeGpu gpu;
  {
    Device d = gpu.open();
    (void)*d.allocate(1 << 20);
    EXPECT_GE(gpu.control().memory_used(), size_t{1} << 20);
  }
  EXPECT_EQ(gpu.control().memory_used(), 0u);
  EXPECT_EQ(gpu.calls("cuMemPoolTrimTo"), 1u) << "others may have the context";
}

// ---- Steady states.

TEST(CudaBytes, scratch_control_blocks_and_events_are_used_again) {
  FakeGpu gpu;
  Device d = gpu.open();
  const Executable e = *d.compile(kernel(R"(
kernel k(s: scratch u32[64], y: inout u32[]) workgroup(64) grid(64) {
  s[global_id.x] = y[global_id.x] + 1
  assert(y[global_id.x] != 77, 3)
  y[global_id.x] = s[global_id.x]
}
)"));
  const Buffer y = *d.allocate(256);
  U values(64), back(64);
  const auto run = [&] {
    std::iota(values.begin(), values.end(), 100);
    return d.submit({Upload{y, in(values)}, Launch{e, {y}}, Readback{y, out(back)}})->wait();
  };
  ASSERT_TRUE(run());
  d.finish();
  const size_t objects = gpu.control().objects(), used = gpu.control().memory_used();
  gpu.control().forget_calls();
  for (int i = 0; i < 20; ++i) {
    const auto r = run();
    ASSERT_TRUE(r) << message_of(r);
    EXPECT_EQ(back[63], 164u);
  }
  d.finish();
  // Fewer than after the first run if the memory of that one was released only then.
  EXPECT_LE(gpu.control().objects(), objects);
  EXPECT_LE(gpu.control().memory_used(), used);
  EXPECT_EQ(gpu.calls("cuEventCreate"), 0u);
  EXPECT_EQ(gpu.calls("cuMemHostAlloc"), 0u);
  EXPECT_EQ(gpu.calls("cuMemsetD2D8Async"), 0u) << "a clean control block is not cleaned";
}

}  // namespace
}  // namespace vyre::driver
