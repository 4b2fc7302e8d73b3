#pragma once

// The memory level of the compile cache: the entries used last, up to a number of bytes. Safe from
// any thread.

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "driver/cache_file.h"
#include "support/hash.h"

namespace vyre::driver {

class CacheMemory {
 public:
  explicit CacheMemory(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// The entry of this hash, which becomes the one used last. Whether it is the right one is for
  /// the caller to see.
  std::optional<EntryImage> find(Hash128 hash);
  /// Replaces what was there. Gives how many entries had to go for it; one that is larger than
  /// everything is not kept.
  uint64_t store(Hash128 hash, EntryImage image);
  uint64_t bytes() const;

 private:
  struct Slot {
    Hash128 hash;
    EntryImage image;
  };
  struct HashOfHash {
    size_t operator()(Hash128 h) const { return size_t(h.lo); }
  };
  using Slots = std::list<Slot>;

  void drop(Slots::iterator slot);

  mutable std::mutex mutex_;
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  Slots slots_;  // used last first
  std::unordered_map<Hash128, Slots::iterator, HashOfHash> index_;
};

}  // namespace vyre::driver
