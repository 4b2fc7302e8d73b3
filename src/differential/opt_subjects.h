#pragma once

// The optimizer as something to compare: programs run before and after it must give the same bytes.

#include "differential/differential.h"

namespace vyre::lab {

/// `opt:<pass>` for every pass alone, `opt:pipeline` for what release builds do, `opt:random` for a
/// part of the passes in an order that the seed chooses, `opt:in_bounds` the same with an assert at
/// every access that they mark so, `opt:long_loops` the program with its loops divided into chunks
/// (transform/long_loops.h); all on the interpreter. Passes run with all checks of the
/// scheduler, and a pass that breaks a program fails its subject. Unless asked for by name, a pass
/// alone takes its turn with others.
std::vector<Subject> opt_subjects();

/// `opt:pipeline:<name>` and `opt:random:<name>`: what `device` makes of optimized programs.
std::vector<Subject> optimized_subjects(const Subject& device);

/// Inserts an assert before every access that is marked `in_bounds`: traps where it is not.
void assert_marks(Program& program);

}  // namespace vyre::lab
