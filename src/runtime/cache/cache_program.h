#pragma once

// Compares programs for the compile cache, without names and source locations, which do not affect
// code.

#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace vyre::driver {

/// Returns the wire form, equal for programs that differ in names and source locations only.
std::vector<std::byte> nameless_wire(const Program& program);

/// Returns a copy without names and source locations.
Program nameless(const Program& program);

/// Returns true if the programs are equal array by array; then their nameless_wire() is equal.
/// Programs with differently numbered ids may have the same wire form without this. Ten times as
/// fast as encoding; this is the cost of a hit in memory.
bool same_but_for_names(const Program& a, const Program& b);

/// Returns the approximate memory of a program.
size_t bytes_of(const Program& program);

}  // namespace vyre::driver
