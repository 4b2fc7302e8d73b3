#pragma once

// Takes away stores that are overwritten before anybody can look.
//
// A store b[i] = v is dead if the same block stores b[i] again, with the same SSA index, and
// between the two nothing reads b, nothing leaves the block, and no barrier or acquire (or atomic
// on b) lets others look. Whether i is in bounds does not matter: both stores are dropped or
// neither. A trap in between keeps a store that others could see: the rest of the launch goes on,
// and what it reads may decide which trap is reported. Linear, but for at most `most_stores`
// pending stores.

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
