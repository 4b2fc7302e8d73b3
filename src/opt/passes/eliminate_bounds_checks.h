#pragma once

// Marks accesses that are proved to be inside their buffer, so that backends need not test them,
// and gives a loop whose accesses one test in front of it proves a copy without tests.
//
// `in_bounds` says: whoever executes the access, active and not trapped, has an index inside. It
// counts the conditions around the access, so an access that is moved loses it, and a backend that
// executes an access for lanes that are switched off, or speculatively, may not use it for those.
// It is given only where the index's type cannot count past the last element: then indices of
// neighbouring lanes that are all inside do not wrap from one to the next.
//
// Loops: an index  K + Σ factor · invariant + c · counter  lies between its values at the counter's
// first and last number. Both are computed before the loop, in 64-bit integers that cannot
// overflow, and compared with the buffer's length: if all of them are inside, the copy with marked
// accesses runs, else the loop as it was. Only innermost loops of limited size that run long, or
// nobody knows how long; without barriers, subgroup operations and returns; and only if the test is
// the same for all lanes of a subgroup: where lanes disagree, both copies would run.
//
// Linear in ops, each question a bounded search.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> eliminate_bounds_checks(Program& program, PassContext& context);

inline constexpr PassDescriptor eliminate_bounds_checks_pass = {
    .name = "eliminate_bounds_checks",
    .summary = "marks accesses that are proved to be inside their buffer",
    .run = eliminate_bounds_checks,
    .phase = Phase::Loop,
    .family = CostFamily::Scalar,
    .uses = {Fact::Ranges, Fact::Effects, Fact::Uniformity},
    .grows_code = true,
};

}  // namespace vyre::opt
