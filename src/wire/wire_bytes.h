#pragma once

// Little-endian numbers, into a growing buffer and out of a span.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vyre::wire {

template <class T>
T swap_if_big_endian(T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    T swapped = 0;
    for (size_t i = 0; i < sizeof(T); ++i) swapped = T(swapped << 8 | ((value >> 8 * i) & 0xff));
    return swapped;
  }
  return value;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return swap_if_big_endian(value);
}
template <class T>
void store(std::byte* at, T value) {
  value = swap_if_big_endian(value);
  std::memcpy(at, &value, sizeof(T));
}

/// Bytes being written.
class Bytes {
 public:
  std::vector<std::byte> data;

  /// Space for n more bytes, to be filled by the caller.
  std::byte* grow(size_t n) {
    const size_t at = data.size();
    data.resize(at + n);
    return data.data() + at;
  }
  template <class T>
  void put(T value) {
    store(grow(sizeof(T)), value);
  }
  void u8(uint8_t v) { data.push_back(std::byte{v}); }
  void u16(uint16_t v) { put(v); }
  void u32(uint32_t v) { put(v); }
  void u64(uint64_t v) { put(v); }
  void raw(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }
  /// Length and bytes.
  void text(std::string_view s) {
    u32(uint32_t(s.size()));
    raw(std::as_bytes(std::span(s)));
  }

  /// Begins a section; pass the result to end_section when its contents are written.
  size_t begin_section(uint32_t tag) {
    u32(tag);
    u64(0);
    return data.size();
  }
  void end_section(size_t begin) { store<uint64_t>(data.data() + begin - 8, data.size() - begin); }
};

}  // namespace vyre::wire
