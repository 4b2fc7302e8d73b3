#pragma once

// Replaces each region by its ops (region inlining).
//
// A region groups ops under a name and is a scope: other regions do not see its values. The calls
// of a fused kernel are regions, so value numbering and store forwarding would not work from one
// call to the next, and coarsening would not see straight code. A region adds no effects: its ops
// keep their order, and the values that it yields replace its results. Runs in time linear in the
// number of ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> inline_regions(Program& program, PassContext& context);

inline constexpr PassDescriptor inline_regions_pass = {
    .name = "inline_regions",
    .summary = "replaces regions by their ops",
    .run = inline_regions,
    .phase = Phase::Scalar,
    .family = CostFamily::Scalar,
};

}  // namespace vyre::opt
