#pragma once

// Memory by pieces: blocks of a few MiB are taken from the driver (which allows only a few thousand
// of them, and is slow), and cut into pieces. What is larger than half a block has one of its own.
// Every piece has an address on the device, aligned to 256 bytes.

#include <map>
#include <memory>
#include <vector>

#include "runtime/vulkan/vulkan_context.h"

namespace vyre::driver::vulkan {

struct Piece {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;  // in the buffer
  uint64_t bytes = 0;
  uint64_t address = 0;       // on the device
  std::byte* host = nullptr;  // where the host sees it, if it does
  uint32_t block = 0;

  explicit operator bool() const { return buffer != VK_NULL_HANDLE; }
};

/// What memory is for.
enum class MemoryKind : uint8_t {
  Device,      // of kernels
  Host,        // copies to and from the host, what kernels tell it, words that it writes meanwhile
  Parameters,  // written by the host once, read by every invocation
};

/// Pieces of one kind. Not for several threads at once.
class MemoryPool {
 public:
  MemoryPool(Context& context, MemoryKind kind, uint64_t block_bytes);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  static constexpr uint64_t alignment = 256;

  /// Not cleared. V0718 with numbers if there is none. 0 bytes have an address too.
  Result<Piece> take(uint64_t bytes);
  void give_back(const Piece& piece);

  uint64_t used() const { return used_; }

 private:
  struct Block {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    uint64_t bytes = 0;
    uint64_t address = 0;
    std::byte* host = nullptr;
    std::map<uint64_t, uint64_t> holes;  // offset, bytes; no two touch
    bool own = false;                    // one piece has all of it
  };

  Result<uint32_t> make_block(uint64_t bytes);
  VkResult fill_block(Block& block);
  void free_block(Block& block);
  std::optional<Piece> cut(uint32_t block, uint64_t bytes);
  std::optional<uint32_t> memory_type(uint32_t allowed) const;

  Context& c_;
  const MemoryKind kind_;
  const uint64_t block_bytes_;
  std::vector<Block> blocks_;  // freed ones have no buffer
  uint64_t used_ = 0;          // of pieces
  uint64_t taken_ = 0;         // of blocks
};

}  // namespace vyre::driver::vulkan
