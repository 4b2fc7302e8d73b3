#pragma once

// Programs for the tests of the wire form and the fingerprint.

#include <cstdint>

#include "ir/module.h"

namespace vyre {

/// Uses everything the format has: every kind of attribute and control op, a table, formulas,
/// regions, locations with inlined-at.
Program rich_program();
/// A few ops, for tests that try every byte.
Program small_program();
/// Kernels, and a graph with a call, a loop of each kind and places.
Module rich_module();
/// Random but well-formed structure (types may make no sense). Same seed, same program.
Program random_program(uint64_t seed);
/// The same program with all ids permuted and garbage between them.
Program renumbered(const Program& p, uint64_t seed);

/// Are they the same array for array, as compact() leaves them? (Formulas and tables aside.)
bool same_arrays(const Program& a, const Program& b);

}  // namespace vyre
