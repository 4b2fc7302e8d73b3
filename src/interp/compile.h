#pragma once

#include "interp/code.h"

namespace vyre::interp {

/// Flat code for a program that passed the checker. At most `max_groups` workgroups are packed into
/// a frame; programs with shared memory or subgroup ops get one. Linear in the ops; needs no stack
/// for nesting.
FlatCode compile(const Program& program, uint64_t max_groups);

}  // namespace vyre::interp
