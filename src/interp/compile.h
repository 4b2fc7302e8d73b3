#pragma once

#include "interp/interp_code.h"

namespace vyre::interp {

/// Compiles a program that passed the checker to flat code. At most `max_groups` workgroups are
/// packed into a frame; programs with shared memory or subgroup ops get one. `observed`: also emits
/// barriers that lock step makes unnecessary. Runs in time linear in the ops; uses no stack for
/// nesting.
FlatCode compile(const Program& program, uint64_t max_groups, bool observed = false);

}  // namespace vyre::interp
