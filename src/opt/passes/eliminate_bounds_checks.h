#pragma once

// Bounds check elimination, with loop versioning: marks accesses that are proved to be inside their
// buffer, so that backends need not test them. A loop whose accesses one test before it proves gets
// a copy without tests.
//
// `in_bounds` means: any active lane that executes the access, and has not trapped, has an index
// inside. The mark may depend on the conditions around the access, so an access that is moved loses
// it, and a backend that executes an access for inactive lanes, or speculatively, must not use it
// for those. An access is marked only where the index's type cannot count past the last element:
// then indices of neighbouring lanes that are all inside do not wrap from one to the next.
//
// Loops: an index  K + Σ factor · invariant + c · counter  lies between its values at the counter's
// first and last number. Both are computed before the loop, in 64-bit integers that cannot
// overflow, and compared with the buffer's length: if all of them are inside, the copy with marked
// accesses runs, else the original loop. The pass copies only innermost loops of limited size whose
// number of iterations is large or unknown; without barriers, subgroup operations and returns; and
// only if the test is the same for all lanes of a subgroup: where lanes disagree, both copies would
// run.
//
// Runs in time linear in the number of ops; each query is a bounded search.

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
