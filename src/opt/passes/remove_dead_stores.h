#pragma once

// Dead store elimination (DSE): removes stores that are overwritten before they can be observed.
//
// A store b[i] = v is dead if the same block stores b[i] again, with the same SSA index, and
// between the two nothing reads b, nothing leaves the block, and no barrier or acquire (or atomic
// on b) makes it visible to others. Whether i is in bounds does not matter: both stores are dropped
// or neither. A trap in between keeps a store that other invocations could see: the rest of the
// launch continues, and the values that it reads may decide which trap is reported. Runs in time
// linear in the number of ops, times the limited number of pending stores.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> remove_dead_stores(Program& program, PassContext& context);

inline constexpr PassDescriptor remove_dead_stores_pass = {
    .name = "remove_dead_stores",
    .summary = "takes away stores that are overwritten before anybody can look",
    .run = remove_dead_stores,
    .phase = Phase::Memory,
    .family = CostFamily::Scalar,
    .uses = {Fact::Effects},
    .keeps_lines = false,
};

}  // namespace vyre::opt
