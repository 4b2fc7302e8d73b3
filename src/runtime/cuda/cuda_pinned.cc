#include "runtime/cuda/cuda_pinned.h"

namespace vyre::driver::cuda {

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

}  // namespace vyre::driver::cuda
