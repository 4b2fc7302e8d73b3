#pragma once

#include "interp/interp_code.h"

namespace vyre::interp {

/// Flat code for a program that passed the checker. At most `max_groups` workgroups are packed into
/// a frame; programs with shared memory or subgroup ops get one. `observed`: barriers that lock
/// step makes needless are there nevertheless. Linear in the ops; needs no stack for nesting.
FlatCode compile(const Program& program, uint64_t max_groups, bool observed = false);

}  // namespace vyre::interp
