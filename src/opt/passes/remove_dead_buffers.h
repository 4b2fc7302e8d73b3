#pragma once

// Takes away buffers that nobody reads, and the stores into them.
//
// A `scratch`, `shared` or private buffer that no load, atomic or formula looks at cannot be seen
// by anybody, so neither can stores into it; relaxed atomics on it whose old value nobody uses are
// stores. Buffers of the host (in, inout, out, uniform, scalars) are its ABI and stay with their
// numbers, so nothing goes that stands before one of them. Scratch memory stays if the host gives
// its length, or if its formula might fail: that error is the launch's own. A buffer whose length
// is asked for by len() stays. Tables that nobody reads go as well, with their bytes. Linear.

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
