#pragma once

// The memory level of the compile cache: the most recently used entries, up to a number of bytes.
// Safe from any thread.

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "runtime/cache/cache_file.h"
#include "runtime/cache/cache_program.h"
#include "support/hash.h"

namespace vyre::driver {

/// An entry and its program, so that a hit need not encode the program to compare it.
struct CachedCode {
  EntryImage image;
  std::shared_ptr<const Program> program;  // nameless

  size_t bytes() const { return image.bytes->size() + bytes_of(*program); }
};

class CacheMemory {
 public:
  explicit CacheMemory(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Returns the entry of this hash, which becomes the most recently used one. The caller checks
  /// whether it is the right one.
  std::optional<CachedCode> find(Hash128 hash);
  struct Stored {
    bool kept = false;  // false for an entry larger than the limit
    uint64_t evicted = 0;
  };
  /// Stores an entry and replaces a previous one of this hash.
  Stored store(Hash128 hash, CachedCode code);
  uint64_t bytes() const;

 private:
  struct Slot {
    Hash128 hash;
    CachedCode code;
  };
  struct HashOfHash {
    size_t operator()(Hash128 h) const { return size_t(h.lo); }
  };
  using Slots = std::list<Slot>;

  void drop(Slots::iterator slot);

  mutable std::mutex mutex_;
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  Slots slots_;  // most recently used first
  std::unordered_map<Hash128, Slots::iterator, HashOfHash> index_;
};

}  // namespace vyre::driver
