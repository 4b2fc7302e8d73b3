#pragma once

// Records commands as a Vulkan command buffer, with the barriers that they need between each other.

#include <array>
#include <vector>

#include "runtime/backend.h"
#include "runtime/vulkan/hazards.h"
#include "runtime/vulkan/helper_kernels.h"
#include "runtime/vulkan/vulkan_frame.h"
#include "runtime/vulkan/vulkan_kernel.h"

namespace vyre::driver::vulkan {

/// Memory as callers of the backend see it.
struct Memory {
  Piece piece;
  uint64_t bytes = 0;       // as asked for
  uint32_t generation = 0;  // of its handle
};

/// The state to inspect when a command buffer has ended.
struct Recorded {
  struct Readback {
    const std::byte* from = nullptr;
    std::shared_ptr<std::vector<std::byte>> to;
    uint64_t bytes = 0;
  };
  struct Told {
    size_t command = 0;
    size_t inside = 0;  // of a loop's body
    emit_spirv::ControlBlock* block = nullptr;
  };
  void stop() const {
    for (std::atomic<uint32_t>* word : stops) word->store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(
        std::memory_order_seq_cst);  // out of the core's write-combining buffer
  }

  std::vector<Readback> readbacks;
  std::vector<Told> told;       // launches that may trap or be stopped
  std::vector<size_t> stamped;  // the command that began at each timestamp but the last
  std::vector<std::atomic<uint32_t>*> stops;  // set them to make launches leave
  uint32_t timestamps = 0;
  /// For a batch of iterations: how many ran, and whether the last was not the end of the loop.
  const uint32_t* batch = nullptr;
};

/// Returns true if the device can dispatch a grid as it is. The device's limits are per dimension;
/// a profile may have a smaller one for all.
bool fits_grid(const PhysicalDevice& device, const emit_exact::Profile& profile,
               const std::array<uint64_t, 3>& num_workgroups);

/// A repeated sequence, recorded once. One submission uses it at a time.
struct Kept {
  Kept(Context& context, MemoryPool& host, MemoryPool& parameters)
      : frame(context, host, parameters, Frame::Level::Secondary) {}
  CommandBody body;
  Frame frame;
  Recorded recorded;
};

/// The services that a recorder needs from its device.
struct Workshop {
  const std::shared_ptr<Context>& context;
  MemoryPool& device_memory;
  const std::vector<Memory>& memory;  // by the low half of its handle
  HelperKernels& helpers;
  const emit_exact::Profile& profile;
};

class Recorder {
 public:
  /// `timestamps`: the number that the frame was begun with; 0: nothing is timed.
  Recorder(const Workshop& workshop, Frame& frame, uint32_t timestamps)
      : workshop_(workshop),
        c_(*workshop.context),
        f_(frame),
        cb_(frame.commands),
        room_(timestamps) {}

  /// Returns the maximum number of timestamps that these commands take.
  static uint32_t timestamps(const Context& context, std::span<const DeviceCommand> commands);

  /// Inserts a barrier after everything that was submitted before, by any stream.
  void full_barrier();
  /// Clears memory; not timed.
  void clear(const Piece& piece);
  /// Records a command that is not a Loop.
  Result<> record(const DeviceCommand& command, size_t number);
  /// Records `rounds` iterations of the body of a counted Loop.
  Result<> repeat(const DeviceCommand& loop, size_t number, uint64_t rounds);
  /// Records a whole body, to be kept. Nothing else is recorded.
  Result<> record_body(const std::vector<DeviceCommand>& body);
  /// Records the body of a Loop of one iteration, as it was kept.
  void replay(bool timed, size_t number, Kept& kept);
  /// Records `rounds` iterations of a Loop that tests a word; each runs only if the word is not
  /// zero (recorder_loop.cc). Nothing else may be recorded after it.
  Result<> batch(const DeviceCommand& loop, size_t number, uint64_t rounds);
  /// Ends recording.
  Result<> end();

  Recorded recorded;

 private:
  /// A parameter of a kernel: the bits of a scalar, or the address of a buffer.
  struct Bound {
    uint64_t value = 0;  // bits or address
    uint64_t count = 0;  // elements
  };
  /// For a batch: dispatches take their sizes from memory.
  struct Gated;

  Result<> one(const DeviceCommand& command, size_t number, size_t inside);
  Result<> upload(const DeviceUpload& c);
  Result<> readback(const DeviceReadback& c);
  Result<> copy(const DeviceCopy& c);
  Result<> fill(const DeviceFill& c);
  Result<> launch(const DeviceLaunch& c, size_t number, size_t inside, Gated* gated = nullptr);
  Result<> dispatch(VulkanKernel& kernel, const Program& program, std::span<const Bound> bound,
                    const std::array<uint64_t, 3>& num_workgroups, uint64_t control,
                    Gated* gated = nullptr, uint32_t coarse = 1);
  Result<uint64_t> control_block(size_t number, size_t inside, Gated* gated);
  void dispatch_gated(const std::array<uint32_t, 3>& groups, Gated& gated);
  Result<> gate(const MemoryRange& word, Gated& gated);
  Result<> gated_fill(const DeviceFill& c, Gated& gated);
  Result<> gated_copy(const DeviceCopy& c, Gated& gated);
  Result<> gated_copy(const Piece& from, uint64_t from_offset, const Piece& to, uint64_t to_offset,
                      uint64_t bytes, Gated& gated);
  Result<uint64_t> stop_address();
  Result<uint64_t> zeros_address();
  void need(std::span<const Access> accesses, Work work);
  void put(Barrier barrier);
  void barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
               VkAccessFlags access);
  void push(std::span<const std::byte> bytes);
  void stamp(bool timed, size_t number);
  void copy_range(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                  uint64_t bytes);
  const Piece& piece(MemoryHandle h) const { return workshop_.memory[uint32_t(h)].piece; }

  const Workshop& workshop_;
  Context& c_;
  Frame& f_;
  VkCommandBuffer cb_;
  const uint32_t room_;  // for timestamps
  Hazards hazards_;
  VkPipeline bound_ = VK_NULL_HANDLE;
  /// Larger parameter blocks are in memory, even where a device would accept more push constants.
  static constexpr size_t most_pushed = 256;
  std::array<std::byte, most_pushed> pushed_;
  size_t pushed_bytes_ = 0;  // pushed to the command buffer so far
  uint64_t stop_address_ = 0, zeros_address_ = 0;
  bool tells_host_ = false;    // a recorded command writes memory that the host will read
  bool open_stretch_ = false;  // a run of untimed commands is open
  std::vector<Access> accesses_;
  std::vector<Bound> bounds_;
};

}  // namespace vyre::driver::vulkan
