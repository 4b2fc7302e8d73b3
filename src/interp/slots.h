#pragma once

// Slots in a frame. Freed slots are reused, last freed first, because they are still in the cache.

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "interp/interp_code.h"

namespace vyre::interp {

class Slots {
 public:
  explicit Slots(uint32_t stride) : stride_(stride) {}

  /// For lanes of 1, 2, 4 or 8 bytes.
  Slot take(uint32_t width) {
    return take_class(std::countr_zero(width), uint64_t{stride_} * width);
  }
  /// A slot that is never reused: for values that are filled once and read in every pass over the
  /// code.
  Slot take_for_ever(uint32_t width) { return take_new(uint64_t{stride_} * width); }
  void give(Slot slot, uint32_t width) { free_[std::countr_zero(width)].push_back(slot); }

  /// For a mask and its count.
  Slot take_mask() { return take_class(4, uint64_t{stride_} + 64); }
  void give_mask(Slot slot) { free_[4].push_back(slot); }

  uint64_t units() const { return units_; }

 private:
  Slot take_class(int c, uint64_t bytes) {
    if (!free_[c].empty()) {
      const Slot slot = free_[c].back();
      free_[c].pop_back();
      return slot;
    }
    return take_new(bytes);
  }
  Slot take_new(uint64_t bytes) {
    const auto slot = static_cast<Slot>(units_);
    units_ += bytes / 64;
    return slot;
  }

  uint32_t stride_;
  uint64_t units_ = 0;
  std::array<std::vector<Slot>, 5> free_;
};

}  // namespace vyre::interp
