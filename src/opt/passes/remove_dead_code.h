#pragma once

// Takes away what nobody can notice: ops without effect whose results nobody needs, control ops
// without effect inside, and results, carried values and yielded values that nobody needs.
//
// Sound because it keeps everything that another lane, the host or the flow of control can see:
// writes, atomics, barriers, traps, returns, and every `while` (whether it ends is part of what a
// program does; a `for` always ends). Subgroup ops only give values, so unused ones go. What is
// needed is found from these roots by marking, so values that only feed themselves around a loop go
// as well. Linear.

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
