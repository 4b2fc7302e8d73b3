#pragma once

// The checker's own view of a kernel's accesses. Each index is followed backwards from its access;
// what is known of the ids there comes from climbing out of the blocks around it.

#include <array>
#include <cstdint>
#include <vector>

#include "ir/launch.h"
#include "ir/program.h"

namespace vyre::plan {

/// One access: element = Σ factor · id + [low, high], the ids being global, local and
/// workgroup x y z.
struct SeenAccess {
  BufferId buffer{0};
  OpId op = none;
  bool reads = false, writes = false, atomic = false, plain = false;
  std::array<__int128, 9> factor = {};
  __int128 low = 0, high = 0;
  std::array<__int128, 3> first = {}, last = {};  // global ids that get there
};

/// Of buffers with `wanted` set.
std::vector<SeenAccess> see_accesses(const Program& kernel, const LaunchShape& shape,
                                     const IdMap<BufferId, uint64_t>& scalars,
                                     const IdMap<BufferId, bool>& wanted);

/// Two accesses: is whoever makes the one, if they meet in an element, who makes the other?
bool meet_only_in_one_invocation(const SeenAccess& a, const SeenAccess& b, const Program& kernel,
                                 const LaunchShape& shape);

}  // namespace vyre::plan
