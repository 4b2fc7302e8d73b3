#include "runtime/cache/cache_memory.h"

namespace vyre::driver {

std::optional<CachedCode> CacheMemory::find(Hash128 hash) {
  const std::lock_guard lock(mutex_);
  const auto at = index_.find(hash);
  if (at == index_.end()) return std::nullopt;
  slots_.splice(slots_.begin(), slots_, at->second);
  return at->second->code;
}

CacheMemory::Stored CacheMemory::store(Hash128 hash, CachedCode code) {
  const std::lock_guard lock(mutex_);
  if (const auto at = index_.find(hash); at != index_.end()) drop(at->second);
  const uint64_t size = code.bytes();
  if (size > max_bytes_) return {};
  Stored result{.kept = true};
  for (; bytes_ > max_bytes_ - size; ++result.evicted) drop(std::prev(slots_.end()));
  slots_.push_front({hash, std::move(code)});
  index_.emplace(hash, slots_.begin());
  bytes_ += size;
  return result;
}

uint64_t CacheMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void CacheMemory::drop(Slots::iterator slot) {
  bytes_ -= slot->code.bytes();
  index_.erase(slot->hash);
  slots_.erase(slot);
}

}  // namespace vyre::driver
