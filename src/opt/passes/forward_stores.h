#pragma once

// Store-to-load forwarding: replaces a load by the value that was just stored.
//
// A load of b[i] after a store b[i] = v, with the same SSA index and nothing between that may
// change b, returns v if i is in bounds, else 0, because a store out of bounds is dropped. Where
// the index is not proved in bounds, the value is a `select` on its bounds test, which is cheaper
// than the load. Two conditions make this sound. The ops in between write b only at indices that
// differ by a constant other than 0, proved from the index forms. The element type represents the
// value exactly (f16 and bf16 round, so they are refused). A barrier or acquire ends forwarding for
// memory that other invocations write.
//
// Works inside a block and from a block into the ifs and regions in it, never into or out of a
// loop. Runs in time linear in the number of ops, times the limited number of stores that are
// remembered for each buffer.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> forward_stores(Program& program, PassContext& context);

inline constexpr PassDescriptor forward_stores_pass = {
    .name = "forward_stores",
    .summary = "gives a load the value that was just stored there",
    .run = forward_stores,
    .phase = Phase::Memory,
    .family = CostFamily::Scalar,
    .uses = {Fact::Effects, Fact::Affine, Fact::Ranges},
};

}  // namespace vyre::opt
