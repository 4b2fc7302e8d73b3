#pragma once

// The encoder's parts that programs and modules share.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "wire/wire_bytes.h"
#include "wire/wire_format.h"

namespace vyre::wire {

/// The canonical form of an attribute: bits that its kind does not use are dropped.
inline uint64_t canonical_attr(AttrKind kind, uint64_t attr) {
  switch (kind) {
    case AttrKind::None: return 0;
    case AttrKind::Buffer: return uint32_t(attr);
    case AttrKind::Memory: return MemoryRef::unpack(attr).pack();
    default: return attr;
  }
}

/// The bytes of a constant table; empty if the buffer is not a table, its count is not constant, or
/// some of its bytes are missing.
std::span<const std::byte> table_of(const Program& p, const Buffer& b);

/// Strings in order of first use, each once.
struct StringTable {
  std::vector<std::string_view> list;
  std::unordered_map<std::string_view, uint32_t> index;

  uint32_t add(std::string_view s) {
    const auto [it, is_new] = index.emplace(s, uint32_t(list.size()));
    if (is_new) list.push_back(s);
    return it->second;
  }
};
void write(Bytes& out, const StringTable& strings);

/// Numbers op names in order of first use.
struct OpTable {
  static constexpr uint16_t unknown = 0xffff;
  std::array<uint16_t, 256> index;
  std::vector<Opcode> list;

  OpTable() { index.fill(unknown); }
  /// The number, and whether it is new.
  std::pair<uint8_t, bool> add(Opcode code) {
    uint16_t& at = index[uint8_t(code)];
    const bool is_new = at == unknown;
    if (is_new) {
      at = uint16_t(list.size());
      list.push_back(code);
    }
    return {uint8_t(at), is_new};
  }
};

/// The sections of one program.
void write(Bytes& out, const Program& program, EncodeOptions options);

/// Writes the header of a file with this payload; seal() completes it.
void write_header(Bytes& out, WireKind kind);

}  // namespace vyre::wire
