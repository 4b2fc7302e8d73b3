#pragma once

// Where things of given sizes go, so that those in conflict share nothing and the end is near.

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

/// The best of some orders, then improved as long as it is above `bound`, below which no end can
/// be, and work is left. `pressure`: for each item the largest sum of those in use with it. The
/// same input gives the same places.
PlacedItems place_items(std::span<const PlaceItem> items, const Conflicts& conflicts,
                        std::span<const uint64_t> pressure, uint64_t bound);

}  // namespace vyre::plan
