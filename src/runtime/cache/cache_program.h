#pragma once

// Programs as the compile cache compares them: names and places aside, which decide nothing.

#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace vyre::driver {

/// The wire form, equal for programs that differ in names and places only.
std::vector<std::byte> nameless_wire(const Program& program);

/// A copy without names and places.
Program nameless(const Program& program);

/// Are they the same array for array? Then their nameless_wire() is the same; programs whose ids
/// are numbered in another way may have the same wire form without this. Ten times as fast as
/// encoding, and it is what a hit in memory costs.
bool same_but_for_names(const Program& a, const Program& b);

/// What a program takes in memory, about.
size_t bytes_of(const Program& program);

}  // namespace vyre::driver
