#pragma once

// Host memory that the device reads and writes by itself: blocks through which bytes go up and come
// back, and the words that tell launches to stop.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/cuda/context.h"

namespace vyre::driver::cuda {

/// Blocks of two sizes that are used again and again: making one takes the system a millisecond.
class PinnedBlocks {
 public:
  static constexpr size_t small_bytes = size_t{64} << 10;
  static constexpr size_t large_bytes = size_t{4} << 20;
  /// More than this is not kept pinned: it would be taken from the rest of the machine.
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
  /// Null data if there is no more, or the system has none.
  Block take(bool large);
  void give_back(const Block& block);

 private:
  std::byte* make();

  const std::shared_ptr<Context> context_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::byte*> made_, free_large_, free_small_;
};

/// A word that kernels poll.
struct StopWord {
  std::atomic<uint32_t>* host = nullptr;
  DevicePointer device = 0;
};

class StopWords {
 public:
  explicit StopWords(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~StopWords();
  StopWords(const StopWords&) = delete;
  StopWords& operator=(const StopWords&) = delete;

  /// Reset. An error if the system has no memory for it.
  Result<StopWord> take();
  void give_back(const StopWord& word);
  /// Zero, unless all are set.
  void reset(const StopWord& word);
  /// All that are taken, now and from now on.
  void set_all();

 private:
  Result<> add_page();

  const std::shared_ptr<Context> context_;
  std::mutex mutex_;  // guards what follows
  std::vector<void*> pages_;
  std::vector<StopWord> all_, free_;
  uint32_t value_ = 0;  // of a word that is reset
};

}  // namespace vyre::driver::cuda
