#pragma once

// Skyline placement orders: the lowest segment of the skyline over time takes the item that fits
// best into its width.

#include <span>
#include <vector>

#include "plan/memory/reuse_place.h"

namespace vyre::plan {

/// Items from the bottom up, each in use from its first to its last arm. Of those that fit the one
/// with the largest key comes first. Roughly n times the width of the gaps.
std::vector<uint32_t> skyline_order(std::span<const PlaceItem> items, std::span<const double> keys);

}  // namespace vyre::plan
