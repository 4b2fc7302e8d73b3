#include "driver/cache_memory.h"

namespace vyre::driver {

std::optional<EntryImage> CacheMemory::find(Hash128 hash) {
  const std::lock_guard lock(mutex_);
  const auto at = index_.find(hash);
  if (at == index_.end()) return std::nullopt;
  slots_.splice(slots_.begin(), slots_, at->second);
  return at->second->image;
}

uint64_t CacheMemory::store(Hash128 hash, EntryImage image) {
  const std::lock_guard lock(mutex_);
  if (const auto at = index_.find(hash); at != index_.end()) drop(at->second);
  const uint64_t size = image.bytes->size();
  if (size > max_bytes_) return 0;
  uint64_t evicted = 0;
  for (; bytes_ > max_bytes_ - size; ++evicted) drop(std::prev(slots_.end()));
  slots_.push_front({hash, std::move(image)});
  index_.emplace(hash, slots_.begin());
  bytes_ += size;
  return evicted;
}

uint64_t CacheMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void CacheMemory::drop(Slots::iterator slot) {
  bytes_ -= slot->image.bytes->size();
  index_.erase(slot->hash);
  slots_.erase(slot);
}

}  // namespace vyre::driver
