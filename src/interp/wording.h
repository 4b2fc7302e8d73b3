#pragma once

// Diagnostics of a kernel that did not end normally: in the same words for every backend.

#include <array>

#include "diagnostics/diagnostic.h"
#include "ir/program.h"

namespace vyre::interp {

/// `op`: the trap or assert, or none.
Diagnostic trapped(const Program& program, uint32_t code, const std::array<uint32_t, 3>& invocation,
                   OpId op);
/// `op`: the loop or barrier at which it was, or none.
Diagnostic timed_out(const Program& program, OpId op, double seconds);

}  // namespace vyre::interp
