#pragma once

// The compile cache: stores compiled code in memory, for this process, and on disk, for later ones.
// docs/cache.md is for users.
//
//   CompileCache& cache = CompileCache::shared();
//   const CacheKey key = make_key(program, device.info(), options);
//   if (auto entry = cache.find(key, program)) return load(entry->code);
//   …compile…
//   cache.store(key, program, code);
//
// A hit needs the same key, to the byte, and the same program except for names and source
// locations: cached code contains none of these. Nothing here is an error: an unreadable entry is a
// miss, an entry that cannot be written is not kept, and stats() says why. Every function may be
// called from any thread.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "runtime/cache/cache_directory.h"
#include "runtime/cache/cache_file.h"
#include "runtime/cache/cache_key.h"
#include "runtime/cache/cache_memory.h"
#include "runtime/cache/cache_program.h"

namespace vyre::driver {

struct CacheOptions {
  bool enabled = true;
  std::string directory;  // absolute; "": no disk level
  std::string why_no_disk;
  uint64_t disk_bytes = uint64_t{512} << 20;
  uint64_t memory_bytes = uint64_t{64} << 20;
  WriteFunction write;  // for tests; empty means write(2)

  /// Reads VYRE_CACHE=off; VYRE_CACHE_DIR, else XDG_CACHE_HOME/vyre, else HOME/.cache/vyre; and
  /// VYRE_CACHE_SIZE, bytes with an optional K, M, G or T. `problem` receives a malformed value,
  /// which was ignored.
  static CacheOptions from_environment(std::string* problem = nullptr);
};

/// A cache hit.
struct CacheEntry {
  enum class Origin : uint8_t { Memory, Disk };

  std::span<const std::byte> code;  // 16-byte aligned
  Origin origin = Origin::Memory;
  std::shared_ptr<const CacheBytes> owner;  // keeps the code
};

struct CacheStats {
  uint64_t memory_hits = 0;
  uint64_t disk_hits = 0;
  uint64_t misses = 0;
  uint64_t bad_entries = 0;  // damaged, or not ours; each a miss too
  uint64_t stores = 0;       // to disk, or to memory without a disk level
  uint64_t evictions = 0;    // from disk
  uint64_t memory_evictions = 0;
  uint64_t memory_bytes = 0;
  std::string problem;  // why the disk level is off, or its last failure; "" if there is none
};

class CompileCache {
 public:
  using Key = CacheKey;
  using Entry = CacheEntry;
  using Stats = CacheStats;

  explicit CompileCache(CacheOptions options);

  /// Returns the cache that the environment selects: one per folder, for the lifetime of the
  /// process.
  static CompileCache& shared();

  std::optional<Entry> find(const Key& key, const Program& program);
  void store(const Key& key, const Program& program, std::span<const std::byte> code);

  Stats stats() const;
  const CacheOptions& options() const { return options_; }

 private:
  std::optional<Entry> find_on_disk(const Key& key, const Program& program);
  bool store_on_disk(const Key& key, const EntryImage& image);
  bool store_in_memory(const Key& key, const Program& program, EntryImage image);
  void keep_to_size(const CacheDirectory& directory, uint64_t stored);
  void set_problem(std::string why);

  const CacheOptions options_;
  CacheMemory memory_;
  std::atomic<uint64_t> memory_hits_{0}, disk_hits_{0}, misses_{0}, bad_entries_{0}, stores_{0},
      evictions_{0}, memory_evictions_{0};

  mutable std::mutex mutex_;  // guards the following members
  std::string problem_;
  bool scanned_ = false;
  uint64_t known_bytes_ = 0;      // on disk: at the last scan, plus our stores since
  uint64_t since_last_scan_ = 0;  // of them
};

}  // namespace vyre::driver
