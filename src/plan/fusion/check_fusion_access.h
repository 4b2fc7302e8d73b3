#pragma once

// The checker's analysis of a kernel's accesses. Each index is followed backwards from its access;
// the ranges of the ids there come from the enclosing blocks.

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
  std::array<__int128, 3> first = {}, last = {};  // global ids that reach it
};

/// Returns the accesses of buffers with `wanted` set.
std::vector<SeenAccess> see_accesses(const Program& kernel, const LaunchShape& shape,
                                     const IdMap<BufferId, uint64_t>& scalars,
                                     const IdMap<BufferId, bool>& wanted);

/// True if two accesses to the same element are always made by the same invocation.
bool meet_only_in_one_invocation(const SeenAccess& a, const SeenAccess& b, const Program& kernel,
                                 const LaunchShape& shape);

}  // namespace vyre::plan
