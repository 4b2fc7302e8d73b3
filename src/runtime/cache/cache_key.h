#pragma once

// Everything that compiled code depends on, as bytes: two compilations may share an entry of the
// cache only if their keys are equal to the byte. The hash of the bytes names the entry's file; the
// bytes are kept in the entry and compared, so that a hash alone never decides.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "support/hash.h"

namespace vyre::driver {

/// Identifies the vyre that generates the code: its version, its commit, and the build id that the
/// linker gave to the executable or library that contains this function. The build id is for
/// developers of vyre: a commit does not distinguish edited trees.
const std::string& build_id();

/// The parts of a key.
struct CacheKeyFields {
  Hash128 fingerprint;  // of the program
  std::string backend;
  std::string target;
  std::string driver_version;
  std::string build;
  uint32_t subgroup_size = 0;          // as requested
  uint32_t default_subgroup_size = 0;  // the device's, used if none was requested
  bool stoppable = true;
  std::vector<std::string> extra;  // sorted

  bool operator==(const CacheKeyFields&) const = default;
};

struct CacheKey {
  std::string bytes;
  Hash128 hash;
};

/// Encodes the fields as one unique sequence of bytes, and decodes it; returns nothing for bytes
/// that seal() does not write.
CacheKey seal(const CacheKeyFields& fields);
std::optional<CacheKeyFields> read_key(std::string_view bytes);

/// Returns the key of a program compiled by this vyre for a device. Programs that differ only in
/// their source locations share code, which contains no source lines.
CacheKey make_key(const Program& program, const DeviceInfo& device, const CompileOptions& options);

}  // namespace vyre::driver
