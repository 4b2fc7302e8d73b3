#pragma once

// Computes and loads once what is computed or loaded twice: an op equal to one before it, in its
// own block or a block around, gives that one's results.
//
// Sound because pure ops are functions of their operands, and a load gives the same as an earlier
// one of the same index if nothing between could have changed the buffer: no store or atomic on it,
// and for memory that other invocations write, no barrier or acquire. Distinct buffers never
// overlap. Memory has a version for each buffer; loops that may change a buffer begin and end with
// a new one, and so do ifs after either arm. What an arm or a loop computed is not used outside of
// it.
//
// Leaves subgroup ops, atomics and uniform loads alone. Linear.

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
