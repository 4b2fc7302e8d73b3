#include "driver/cuda/pinned.h"

#include <new>

namespace vyre::driver::cuda {

// ---- Blocks.

PinnedBlocks::~PinnedBlocks() {
  if (context_->is_lost()) return;
  const Current current(*context_);
  for (std::byte* block : made_) context_->api.host_free(block);
}

std::byte* PinnedBlocks::make() {
  if ((made_.size() + 1) * large_bytes > most_bytes) return nullptr;
  void* data = nullptr;
  if (context_->api.host_allocate(&data, large_bytes, host_alloc_portable) != Status::Success)
    return nullptr;
  made_.push_back(static_cast<std::byte*>(data));
  return made_.back();
}

PinnedBlocks::Block PinnedBlocks::take(bool large) {
  const std::lock_guard lock(mutex_);
  if (!large && free_small_.empty()) {
    std::byte* whole = nullptr;
    if (!free_large_.empty()) {
      whole = free_large_.back();
      free_large_.pop_back();
    } else {
      whole = make();
    }
    for (size_t at = 0; whole && at < large_bytes; at += small_bytes)
      free_small_.push_back(whole + at);
  }
  std::vector<std::byte*>& from = large ? free_large_ : free_small_;
  if (from.empty()) return {large ? make() : nullptr, large};
  std::byte* const data = from.back();
  from.pop_back();
  return {data, large};
}

void PinnedBlocks::give_back(const Block& block) {
  const std::lock_guard lock(mutex_);
  (block.large ? free_large_ : free_small_).push_back(block.data);
}

// ---- Words.

namespace {

/// A line of the cache for each: the device reads it over the bus while the host writes others.
constexpr size_t word_stride = 64, page_bytes = 4096;

}  // namespace

StopWords::~StopWords() {
  if (context_->is_lost()) return;
  const Current current(*context_);
  for (void* page : pages_) context_->api.host_free(page);
}

Result<> StopWords::add_page() {
  const Api& api = context_->api;
  void* page = nullptr;
  DevicePointer device = 0;
  Status s = api.host_allocate(&page, page_bytes, host_alloc_portable | host_alloc_device_map);
  if (s == Status::Success) {
    pages_.push_back(page);
    s = api.host_device_pointer(&device, page, 0);
  }
  if (s != Status::Success) return context_->failed(s, "a word in host memory was made");
  for (size_t at = 0; at < page_bytes; at += word_stride) {
    std::byte* const line = static_cast<std::byte*>(page) + at;
    free_.push_back({new (line) std::atomic<uint32_t>(0), device + at});
    all_.push_back(free_.back());
  }
  return Ok{};
}

Result<StopWord> StopWords::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty())
    if (Result<> added = add_page(); !added) return added.errors();
  const StopWord word = free_.back();
  free_.pop_back();
  word.host->store(value_, std::memory_order_relaxed);
  return word;
}

void StopWords::give_back(const StopWord& word) {
  const std::lock_guard lock(mutex_);
  free_.push_back(word);
}

void StopWords::reset(const StopWord& word) {
  const std::lock_guard lock(mutex_);
  word.host->store(value_, std::memory_order_relaxed);
}

void StopWords::set_all() {
  const std::lock_guard lock(mutex_);
  value_ = 1;
  for (const StopWord& word : all_) word.host->store(1, std::memory_order_relaxed);
}

}  // namespace vyre::driver::cuda
