#pragma once

// The resources that one submission to the queue needs besides the memory of its commands: a
// command buffer, timestamps, and small memory for parameters and for reports of kernels to the
// host. Frames are reused when the submission has ended.

#include <memory>
#include <vector>

#include "runtime/backend.h"
#include "runtime/vulkan/vulkan_memory.h"

namespace vyre::driver::vulkan {

/// Small memory that is released all at once.
class Arena {
 public:
  explicit Arena(MemoryPool& pool) : pool_(pool) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  struct Place {
    std::byte* host = nullptr;
    uint64_t address = 0;
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0;
  };
  /// Aligned to 64 bytes, or to 256 if `for_kernel`.
  Result<Place> take(uint64_t bytes, bool for_kernel = false);
  void reset();

 private:
  MemoryPool& pool_;
  std::vector<Piece> pieces_;
  size_t current_ = 0;
  uint64_t used_ = 0;  // of the current one
};

class Frame {
 public:
  /// Secondary: executed by other command buffers, more than once.
  enum class Level : uint8_t { Primary, Secondary };
  Frame(Context& context, MemoryPool& host, MemoryPool& parameters, Level level = Level::Primary);
  ~Frame();

  /// Makes the frame ready for recording: nothing of the previous submission is left.
  Result<> begin(uint32_t timestamps);
  /// Releases what the submission held.
  void recycle();

  Result<Piece> take_staging(uint64_t bytes);

  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;
  Arena words, parameters;
  std::vector<std::pair<MemoryPool*, Piece>> held;  // staging, and copies that overlap

 private:
  Result<> make_commands();
  Result<> make_queries(uint32_t timestamps);

  Context& c_;
  MemoryPool& host_;
  const Level level_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  uint32_t query_room_ = 0;
};

}  // namespace vyre::driver::vulkan
