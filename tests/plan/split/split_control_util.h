#pragma once

// Makes kernels of nested ifs and loops around grid barriers, with breaks, continues and returns
// that the whole grid takes together, values that live across everything, shared and private
// arrays.

#include <cstdint>
#include <string>

namespace vyre::plan {

/// The kernel has parameters `x: in u32[]` (40 small numbers) and the scalar `n`.
std::string random_control(uint64_t seed);

}  // namespace vyre::plan
