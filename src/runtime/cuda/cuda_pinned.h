#pragma once

// Pinned host memory: blocks through which bytes are uploaded and read back.

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/cuda_context.h"

namespace vyre::driver::cuda {

/// Blocks of two sizes that are reused: the system needs a millisecond to create one.
class PinnedBlocks {
 public:
  static constexpr size_t small_bytes = size_t{64} << 10;
  static constexpr size_t large_bytes = size_t{4} << 20;
  /// The limit of pinned memory: more would be taken from the rest of the machine.
  static constexpr size_t most_bytes = size_t{1} << 30;

  explicit PinnedBlocks(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~PinnedBlocks();
  PinnedBlocks(const PinnedBlocks&) = delete;
  PinnedBlocks& operator=(const PinnedBlocks&) = delete;

  struct Block {
    std::byte* data = nullptr;
    bool large = false;
    size_t size() const { return large ? large_bytes : small_bytes; }
  };
  /// Returns null data if the limit is reached, or the system has no memory.
  Block take(bool large);
  void give_back(const Block& block);

 private:
  std::byte* make();

  const std::shared_ptr<Context> context_;
  std::mutex mutex_;  // guards the following members
  std::vector<std::byte*> made_, free_large_, free_small_;
};

}  // namespace vyre::driver::cuda
