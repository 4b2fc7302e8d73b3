// Memory, copies and fills of the Vulkan backend.

#include "tests/runtime/vulkan/vulkan_util.h"

namespace vyre::driver {
namespace {

using Bytes = std::vector<uint8_t>;

TEST_F(VulkanTest, fresh_memory_is_zero_also_where_something_else_was) {
  Device d = open();
  for (int round = 0; round < 3; ++round) {
    const Buffer b = *d.allocate(1000);
    Bytes got(1000, 1);
    const auto r = d.submit({Readback{b, out(got)}})->wait();
    ASSERT_TRUE(r) << render(r.errors(), {});
    EXPECT_EQ(got, Bytes(1000, 0));
    ASSERT_TRUE(d.submit({Fill{b, 0xab}})->wait());
    ASSERT_TRUE(d.free(b));
  }
}

TEST_F(VulkanTest, fills_of_every_alignment) {
  Device d = open();
  const Buffer b = *d.allocate(64);
  for (uint64_t begin = 0; begin < 6; ++begin)
    for (uint64_t n = 0; n < 14; ++n) {
      Bytes got(64), want(64, 7);
      std::fill_n(want.begin() + long(begin), n, uint8_t(0x9c));
      ASSERT_TRUE(d.submit({Fill{b, 7}, Fill{b, 0x9c, begin, n}, Readback{b, out(got)}})->wait());
      EXPECT_EQ(got, want) << begin << " " << n;
    }
}

TEST_F(VulkanTest, ranged_uploads_copies_and_readbacks) {
  Device d = open();
  const Buffer a = *d.allocate(16), b = *d.allocate(16);
  const Bytes bytes = {1, 2, 3, 4};
  Bytes all(16), part(3);
  ASSERT_TRUE(d.submit({Fill{a, 9}, Upload{a, in(bytes), 4}, Copy{b, a, 6, 1, 3},
                        Readback{a, out(all)}, Readback{b, out(part), 1}})
                  ->wait());
  EXPECT_EQ(all, (Bytes{9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(part, (Bytes{9, 1, 2}));
}

TEST_F(VulkanTest, copies_inside_one_buffer_may_overlap) {
  Device d = open();
  const Buffer b = *d.allocate(32);
  Bytes data(32), got(32);
  for (size_t i = 0; i < 32; ++i) data[i] = uint8_t(i);
  for (const auto& [from, to] : {std::pair<uint64_t, uint64_t>{0, 5}, {7, 2}, {3, 3}}) {
    ASSERT_TRUE(
        d.submit({Upload{b, in(data)}, Copy{b, b, 20, to, from}, Readback{b, out(got)}})->wait());
    Bytes want = data;
    std::memmove(want.data() + to, data.data() + from, 20);
    EXPECT_EQ(got, want) << from << " to " << to;
  }
}

TEST_F(VulkanTest, many_pieces_of_all_sizes_keep_their_bytes) {
  Device d = open();
  std::vector<Buffer> buffers;
  std::vector<Bytes> contents;
  for (uint32_t i = 0; i < 200; ++i) {
    const uint64_t bytes = i % 50 == 7 ? (40u << 20) + i : i * i;
    buffers.push_back(*d.allocate(bytes));
    contents.emplace_back(bytes);
    if (bytes) {
      contents.back().front() = uint8_t(i + 1);
      contents.back().back() = uint8_t(i + 2);
    }
    ASSERT_TRUE(d.submit({Upload{buffers.back(), in(contents.back())}}));
    if (i % 3 == 2) {  // holes
      d.finish();
      ASSERT_TRUE(d.free(buffers[i - 1]));
      contents[i - 1].clear();
    }
  }
  for (uint32_t i = 0; i < 200; ++i) {
    if (contents[i].empty()) continue;
    Bytes got(contents[i].size());
    ASSERT_TRUE(d.submit({Readback{buffers[i], out(got)}})->wait());
    EXPECT_TRUE(got == contents[i]) << i;
  }
}

TEST_F(VulkanTest, more_memory_than_there_is_is_v0718_with_numbers) {
  Device d = open();
  const uint64_t all = d.info().limits.memory_bytes;
  const auto r = d.allocate(all + 1);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::DeviceMemoryExceeded);
  EXPECT_NE(r.errors()[0].message.find(std::to_string(all + 1)), std::string::npos);
}

TEST_F(VulkanTest, streams_wait_for_buffers_that_they_share) {
  Device d = open();
  const Buffer a = *d.allocate(1 << 20), b = *d.allocate(1 << 20);
  Bytes got(1 << 20);
  for (uint8_t round = 1; round < 20; ++round) {
    ASSERT_TRUE(d.submit({Fill{a, round}}, {.stream = 0}));
    ASSERT_TRUE(d.submit({Copy{b, a, 1 << 20}}, {.stream = 1}));
    ASSERT_TRUE(d.submit({Fill{a, 0}}, {.stream = 2}));
    ASSERT_TRUE(d.submit({Readback{b, out(got)}}, {.stream = 3})->wait());
    EXPECT_EQ(got, Bytes(1 << 20, round));
  }
  d.finish();
}

}  // namespace
}  // namespace vyre::driver
