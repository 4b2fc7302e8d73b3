#pragma once

// Suballocation of device memory: blocks of a few MiB are allocated from the driver (which allows
// only a few thousand of them, and is slow), and divided into pieces. A piece larger than half a
// block gets its own block. Every piece has an address on the device, aligned to 256 bytes.

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
  std::byte* host = nullptr;  // the mapping in host memory, or null
  uint32_t block = 0;

  explicit operator bool() const { return buffer != VK_NULL_HANDLE; }
};

/// The purpose of memory.
enum class MemoryKind : uint8_t {
  Device,      // of kernels
  Host,        // copies to and from the host, reports of kernels, flags that it writes meanwhile
  Parameters,  // written by the host once, read by every invocation
};

/// Pieces of one kind. Not safe from several threads at once.
class MemoryPool {
 public:
  MemoryPool(Context& context, MemoryKind kind, uint64_t block_bytes);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  static constexpr uint64_t alignment = 256;

  /// Returns memory that is not cleared. V0718 with numbers if there is none. 0 bytes have an
  /// address too.
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
    bool own = false;                    // one piece fills the block
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
