#pragma once

// The folder of the cache: one file per entry, many processes at once, no locks.
//
// The folder that the user names may hold other files. Entries are in a subdirectory that vyre
// creates, `vyre-entries`, which its CACHEDIR.TAG identifies (backup programs skip such folders).
// Only our own files are ever removed: regular files of this user whose name has our pattern and
// whose first bytes are those of an entry.
//
// A file appears by rename and is never written to after that, so a reader sees all of it or
// nothing. The checksum of the entry detects damage by a crash, a full disk or another program. Any
// process may delete any file at any time.
//
// Code from this folder is executed: a folder or file that another user owns or may write to is not
// used. All access goes through a descriptor of the folder that was checked, so that another
// process cannot replace the folder meanwhile.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cache/cache_file.h"
#include "support/hash.h"

namespace vyre::driver {

/// write(2), or the replacement of a test.
using WriteFunction = std::function<ssize_t(int, const void*, size_t)>;

struct CacheFile {
  std::string name;
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // unix time of the last use
};

class CacheDirectory {
 public:
  /// The name of the subdirectory.
  static constexpr const char* entries_name = "vyre-entries";

  enum class Open : uint8_t { Existing, Create };

  CacheDirectory(CacheDirectory&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  CacheDirectory& operator=(CacheDirectory&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~CacheDirectory();

  /// Opens the subdirectory of entries in the folder `path`. Returns nothing, and why, if it cannot
  /// be used; `why` is "" if it does not exist yet. Create makes it, and the folders above it, for
  /// this user alone.
  static std::optional<CacheDirectory> open(const std::string& path, Open how, std::string& why);

  /// Returns the name of an entry: 32 digits and ".vyc".
  static std::string file_name(Hash128 hash);

  /// Returns the entries, unordered. Other files are skipped.
  std::vector<CacheFile> list() const;

  struct Contents {
    enum class Kind : uint8_t { Missing, Bad, Read } kind = Kind::Missing;
    CacheBytes bytes;  // Read
    std::string why;   // Bad
  };
  /// Reads one of our files, at most `max_bytes` long; for a longer one `head_only` reads the
  /// beginning.
  Contents read(const std::string& name, uint64_t max_bytes, bool head_only = false) const;

  /// Writes a file, under a temporary name first. Returns why it failed, or "".
  std::string write(const std::string& name, std::span<const std::byte> bytes,
                    const WriteFunction& write) const;

  /// Sets its time of last use to now.
  void touch(const std::string& name) const;

  enum class Removal : uint8_t {
    Removed,
    Gone,     // another process was faster
    Foreign,  // not an entry of ours, so it stays
    Failed,
  };
  /// Removes one of our files, and no other.
  Removal remove(const std::string& name) const;

  struct Trimmed {
    uint64_t bytes = 0;  // of the entries that are left
    uint64_t evicted = 0;
  };
  /// If the entries have more bytes than `max_bytes`: removes those that were not used for longest
  /// until an eighth is free. Also removes our temporary files that are more than an hour old.
  Trimmed trim(uint64_t max_bytes) const;

  struct Cleared {
    uint64_t files = 0;
    uint64_t bytes = 0;
    uint64_t left = 0;  // could not be removed
  };
  /// Removes our entries and temporary files, and nothing else.
  Cleared clear() const;

 private:
  explicit CacheDirectory(int fd) : fd_(fd) {}
  /// Calls see(name) for every name in it.
  template <class Fn>
  void each_name(Fn&& see) const;

  int fd_ = -1;
};

/// Unix time in nanoseconds.
int64_t unix_now_ns();

}  // namespace vyre::driver
