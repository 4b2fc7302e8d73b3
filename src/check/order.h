#pragma once

// Results that depend on the order in which invocations run, and are thus excluded from the
// guarantee of equal bytes: the old values of atomics, and f32 atomic_add. Final values are in
// update_order.h.

#include "check/check_report.h"
#include "ir/program.h"

namespace vyre {

/// Notes each such use; with `exact`, f32 atomic_add is an error.
void check_order(const Program& program, bool exact, Reporter& report);

}  // namespace vyre
