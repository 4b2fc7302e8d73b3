#pragma once

// Masks: a byte 0 or 1 for each lane, padded with zeros to a multiple of 64, followed by the number
// of ones. A mask whose count is 0 is empty whatever its bytes are, so clearing one costs nothing.

#include <cstdint>
#include <cstring>

namespace vyre::interp {

struct Mask {
  uint8_t* bytes;
  uint32_t stride;

  uint32_t& count() const { return *reinterpret_cast<uint32_t*>(bytes + stride); }
  bool empty() const { return count() == 0; }
};

/// Ones in a mask. Bytes are added in parallel in 64-bit words. A block of 1024 bytes takes 128
/// additions, so no byte of the sums overflows.
inline uint32_t count_ones(const uint8_t* bytes, uint32_t stride) {
  uint32_t total = 0;
  for (uint32_t block = 0; block < stride; block += 1024) {
    const uint32_t end = block + 1024 < stride ? block + 1024 : stride;
    uint64_t sums = 0;
    for (uint32_t i = block; i < end; i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      sums += word;
    }
    sums = (sums & 0x00ff00ff00ff00ffull) + (sums >> 8 & 0x00ff00ff00ff00ffull);
    total += static_cast<uint32_t>(sums * 0x0001000100010001ull >> 48);
  }
  return total;
}

inline void set_empty(Mask m) { m.count() = 0; }
inline void assign(Mask to, Mask from) {
  if (from.count() != 0) std::memcpy(to.bytes, from.bytes, to.stride);
  to.count() = from.count();
}
/// to |= from, for masks without a lane in common.
inline void unite(Mask to, Mask from) {
  if (from.empty()) return;
  if (to.empty()) return assign(to, from);
  for (uint32_t i = 0; i < to.stride; ++i) to.bytes[i] |= from.bytes[i];
  to.count() += from.count();
}
/// m &= flags; flags are 0 or 1 where m is 1.
inline void keep(Mask m, const uint8_t* flags) {
  for (uint32_t i = 0; i < m.stride; ++i) m.bytes[i] &= flags[i];
  m.count() = count_ones(m.bytes, m.stride);
}
/// to = from & flags.
inline void where(Mask to, Mask from, const uint8_t* flags) {
  for (uint32_t i = 0; i < to.stride; ++i) to.bytes[i] = from.bytes[i] & flags[i];
  to.count() = from.empty() ? 0 : count_ones(to.bytes, to.stride);
}
/// to = from & !flags.
inline void where_not(Mask to, Mask from, const uint8_t* flags) {
  for (uint32_t i = 0; i < to.stride; ++i) to.bytes[i] = from.bytes[i] & (flags[i] ^ 1);
  to.count() = from.empty() ? 0 : count_ones(to.bytes, to.stride);
}
/// m &= !gone.
inline void drop(Mask m, Mask gone) {
  if (gone.empty() || m.empty()) return;
  for (uint32_t i = 0; i < m.stride; ++i) m.bytes[i] &= gone.bytes[i] ^ 1;
  m.count() = count_ones(m.bytes, m.stride);
}

template <class T>
inline void copy_active(uint32_t lanes, const uint8_t* active, void* to, const void* from) {
  T* __restrict out = static_cast<T*>(to);
  const T* __restrict in = static_cast<const T*>(from);
  for (uint32_t l = 0; l < lanes; ++l) out[l] = active[l] ? in[l] : out[l];
}

}  // namespace vyre::interp
