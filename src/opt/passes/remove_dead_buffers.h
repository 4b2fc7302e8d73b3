#pragma once

// Removes buffers that are never read, and the stores into them (dead buffer elimination).
//
// The contents of a `scratch`, `shared` or private buffer that no load, atomic or formula uses
// cannot be observed, so stores into it are dead; a relaxed atomic on it whose old value is unused
// counts as a store. Buffers of the host (in, inout, out, uniform, scalars) are its ABI and keep
// their numbers, so a buffer before one of them is not removed. Scratch memory stays if the host
// passes its length, or if its formula might fail: that error belongs to the launch. A buffer whose
// length len() reads stays. Unread tables are removed as well, with their bytes. Runs in time
// linear in the number of ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> remove_dead_buffers(Program& program, PassContext& context);

inline constexpr PassDescriptor remove_dead_buffers_pass = {
    .name = "remove_dead_buffers",
    .summary = "takes away buffers that nobody reads",
    .run = remove_dead_buffers,
    .phase = Phase::Cleanup,
    .family = CostFamily::Scalar,
    .uses = {Fact::DefUse},
    .keeps_lines = false,
};

}  // namespace vyre::opt
