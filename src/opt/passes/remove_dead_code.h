#pragma once

// Dead code elimination (DCE): removes ops without effects whose results are unused, control ops
// that contain no effects, and unused results, carried values and yielded values.
//
// Sound because it keeps every effect that another lane, the host or control flow can observe:
// writes, atomics, barriers, traps, returns, and every `while` (its termination is part of the
// program's meaning; a `for` always ends). Subgroup ops only return values, so unused ones are
// removed. Marking starts from these roots, so values that only feed themselves around a loop are
// removed as well. Runs in time linear in the number of ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> remove_dead_code(Program& program, PassContext& context);

inline constexpr PassDescriptor remove_dead_code_pass = {
    .name = "remove_dead_code",
    .summary = "takes away ops and values that nobody needs",
    .run = remove_dead_code,
    .phase = Phase::Cleanup,
    .family = CostFamily::Scalar,
    .keeps_lines = false,
};

}  // namespace vyre::opt
