#pragma once

// What compiled code depends on, as bytes: two compilations may share an entry of the cache only if
// their keys are equal to the byte. The hash of the bytes names the entry's file; the bytes are
// kept in the entry and compared, so that a hash alone never decides.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "support/hash.h"

namespace vyre::driver {

/// Which vyre makes the code: its version, its commit, and the build id that the linker gave to the
/// executable or library that we are part of. The last one is for those who work on vyre: a commit
/// does not tell one edited tree from another.
const std::string& build_id();

/// The parts of a key.
struct CacheKeyFields {
  Hash128 fingerprint;  // of the program
  std::string backend;
  std::string target;
  std::string driver_version;
  std::string build;
  uint32_t subgroup_size = 0;          // as asked for
  uint32_t default_subgroup_size = 0;  // the device's, which counts where none was asked for
  bool stoppable = true;
  std::vector<std::string> extra;  // sorted

  bool operator==(const CacheKeyFields&) const = default;
};

struct CacheKey {
  std::string bytes;
  Hash128 hash;
};

/// One sequence of bytes for each value of the fields, and back; nothing for bytes that seal() does
/// not write.
CacheKey seal(const CacheKeyFields& fields);
std::optional<CacheKeyFields> read_key(std::string_view bytes);

/// The key of a program compiled by this vyre for a device. Programs that differ in nothing but
/// where they were written share code, which holds no lines of source.
CacheKey make_key(const Program& program, const DeviceInfo& device, const CompileOptions& options);

}  // namespace vyre::driver
