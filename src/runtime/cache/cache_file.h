#pragma once

// An entry of the compile cache as bytes, in a file and in the memory level.
//
//   0  "VYRC"           8  length of all of it     24  u32 length of the key     32  of the program
//   4  u32 version     16  made at (unix, ns)      28  u32 length of the name    40  of the code
//   48 key, kernel's name, program; zeros up to a multiple of 16; code; u64 XXH3 of all before it
//
// Numbers are little-endian. The program is in wire form without source locations and names
// (cache_program.h). The name is for people who list the cache.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vyre::driver {

using CacheBytes = std::vector<std::byte>;

/// The first bytes of an entry.
inline constexpr std::array<std::byte, 4> entry_magic = {std::byte{'V'}, std::byte{'Y'},
                                                         std::byte{'R'}, std::byte{'C'}};

/// The parts of an entry, as views into its bytes.
struct EntryView {
  uint64_t made_ns = 0;
  std::string_view key;
  std::string_view name;
  std::span<const std::byte> program;
  std::span<const std::byte> code;
};

/// An entry in memory. All users of the code share the bytes.
struct EntryImage {
  std::shared_ptr<const CacheBytes> bytes;
  EntryView view;
};

EntryImage make_entry(std::string_view key, std::string_view name,
                      std::span<const std::byte> program, std::span<const std::byte> code,
                      uint64_t made_ns);

/// Parses untrusted bytes. Returns nothing, and why, if lengths or checksum are not those of an
/// entry.
std::optional<EntryView> parse_entry(std::span<const std::byte> bytes, std::string* why = nullptr);

/// Parses the head of an entry from its first bytes: only key, name and time, which are checked
/// only for presence. For listings.
std::optional<EntryView> parse_entry_head(std::span<const std::byte> beginning);

/// The number of bytes that suffices for listings; keys and names are shorter.
inline constexpr size_t kEntryHeadBytes = 16 << 10;

/// Checks more than a hit does: the key must be well-formed, and the program must decode and have
/// the fingerprint in the key. Returns the first error, or "".
std::string mistake_in_entry(const EntryView& entry);

}  // namespace vyre::driver
