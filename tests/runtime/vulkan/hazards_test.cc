// Which barriers commands need among each other.

#include "runtime/vulkan/hazards.h"

#include <gtest/gtest.h>

namespace vyre::driver::vulkan {
namespace {

class HazardsTest : public ::testing::Test {
 protected:
  /// A command that reads and writes so many bytes at these addresses; none: 0.
  Barrier kernel(uint64_t reads, uint64_t writes) { return add(reads, writes, Work::Kernel); }
  Barrier transfer(uint64_t reads, uint64_t writes) { return add(reads, writes, Work::Transfer); }
  Barrier add(uint64_t reads, uint64_t writes, Work work) {
    const Access a[] = {{reads, reads ? reads + 16 : 0, false},
                        {writes, writes ? writes + 16 : 0, true}};
    return h_.add(a, work);
  }
  Hazards h_;
};

TEST_F(HazardsTest, readers_and_strangers_need_none) {
  EXPECT_EQ(kernel(100, 200), Barrier::None);
  EXPECT_EQ(kernel(100, 300), Barrier::None);
  EXPECT_EQ(transfer(100, 400), Barrier::None);
  EXPECT_EQ(kernel(184, 416), Barrier::None);  // they only touch
}

TEST_F(HazardsTest, kernels_wait_for_kernels) {
  EXPECT_EQ(kernel(100, 200), Barrier::None);
  EXPECT_EQ(kernel(215, 300), Barrier::Kernels);  // reads what is written
  EXPECT_EQ(kernel(400, 200), Barrier::Kernels);  // writes what is read
  EXPECT_EQ(kernel(500, 200), Barrier::Kernels);  // writes what is written
  EXPECT_EQ(kernel(300, 400), Barrier::None);     // two barriers ago
}

TEST_F(HazardsTest, transfers_are_waited_for_by_all) {
  EXPECT_EQ(transfer(0, 200), Barrier::None);
  EXPECT_EQ(kernel(200, 300), Barrier::All);
  EXPECT_EQ(kernel(300, 400), Barrier::Kernels);
  EXPECT_EQ(transfer(400, 500), Barrier::All);
  EXPECT_EQ(transfer(500, 600), Barrier::All);
}

TEST_F(HazardsTest, a_kernel_waits_for_transfers_beside_the_kernel_it_needs) {
  EXPECT_EQ(kernel(0, 200), Barrier::None);
  EXPECT_EQ(transfer(0, 900), Barrier::None);
  EXPECT_EQ(kernel(200, 300), Barrier::All);
  EXPECT_EQ(kernel(900, 400), Barrier::None);
}

/// A barrier between kernels does not order the kernels before it with later transfers.
TEST_F(HazardsTest, a_transfer_waits_for_kernels_before_the_last_barrier) {
  EXPECT_EQ(kernel(0, 200), Barrier::None);
  EXPECT_EQ(kernel(0, 300), Barrier::None);
  EXPECT_EQ(kernel(200, 400), Barrier::Kernels);
  EXPECT_EQ(transfer(300, 500), Barrier::All);
  EXPECT_EQ(transfer(200, 600), Barrier::None);
  EXPECT_EQ(kernel(600, 700), Barrier::All);
}

TEST_F(HazardsTest, unknown_commands_meet_everything) {
  EXPECT_EQ(h_.add_unknown(), Barrier::None);
  EXPECT_EQ(kernel(0, 200), Barrier::All);
  EXPECT_EQ(h_.add_unknown(), Barrier::All);
  EXPECT_EQ(h_.add_unknown(), Barrier::All);
  h_.clear();
  EXPECT_EQ(h_.add_unknown(), Barrier::None);
}

TEST_F(HazardsTest, unknown_commands_wait_for_kernels_before_the_last_barrier) {
  EXPECT_EQ(kernel(0, 200), Barrier::None);
  EXPECT_EQ(kernel(200, 0), Barrier::Kernels);
  EXPECT_EQ(h_.add_unknown(), Barrier::All);
}

}  // namespace
}  // namespace vyre::driver::vulkan
