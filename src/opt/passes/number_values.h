#pragma once

// Global value numbering (GVN), for loads as well: replaces an op that is equal to an earlier one,
// in the same block or a block around it, by the results of that one.
//
// Sound because pure ops are functions of their operands, and a load returns the same value as an
// earlier one of the same index if nothing between could have changed the buffer: no store or
// atomic on it, and for memory that other invocations write, no barrier or acquire. Distinct
// buffers never overlap. Memory has a version for each buffer; loops that may change a buffer begin
// and end with a new version, and so do ifs after either branch. Values of a branch or a loop are
// not used outside of it.
//
// Does not change subgroup ops, atomics and uniform loads. Runs in time linear in the number of
// ops.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> number_values(Program& program, PassContext& context);

inline constexpr PassDescriptor number_values_pass = {
    .name = "number_values",
    .summary = "computes and loads once what is computed or loaded twice",
    .run = number_values,
    .phase = Phase::Scalar,
    .family = CostFamily::Scalar,
    .uses = {Fact::Effects},
    .keeps_lines = false,
};

}  // namespace vyre::opt
