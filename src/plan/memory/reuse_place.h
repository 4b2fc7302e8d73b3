#pragma once

// Assigns offsets to items of known sizes so that conflicting ones do not overlap; minimizes the
// largest end.

#include <cstdint>
#include <span>
#include <vector>

namespace vyre::plan {

struct PlaceItem {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0;  // when it is in use, holes and all; only hints
};

/// Lists of the items in conflict with each: those of item i are at [begin[i], begin[i + 1]).
struct Conflicts {
  std::vector<uint32_t> begin;
  std::vector<uint32_t> items;
  std::span<const uint32_t> of(uint32_t i) const {
    return {items.data() + begin[i], begin[i + 1] - begin[i]};
  }
};

struct PlacedItems {
  std::vector<uint64_t> offsets;
  uint64_t end = 0;
};

/// Returns the best of some orders, then improves it as long as it is above `bound`, a lower bound
/// of all ends, and work is left. `pressure`: for each item the largest sum of those in use with
/// it. The same input produces the same places.
PlacedItems place_items(std::span<const PlaceItem> items, const Conflicts& conflicts,
                        std::span<const uint64_t> pressure, uint64_t bound);

}  // namespace vyre::plan
