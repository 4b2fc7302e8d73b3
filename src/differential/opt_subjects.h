#pragma once

// The optimizer as configurations: programs before and after it must give the same bytes.

#include "differential/differential.h"

namespace vyre::lab {

/// `opt:<pass>` for every pass alone, `opt:pipeline` for the release pipeline, `opt:random` for a
/// part of the passes in an order that the seed selects, `opt:in_bounds` the same with an assert at
/// every access that they mark so, `opt:long_loops` the program with its loops divided into chunks
/// (transform/long_loops.h); all on the interpreter. Passes run with all checks of the scheduler,
/// and a pass that breaks a program fails its configuration. Unless selected by name, the single
/// passes take turns.
std::vector<Subject> opt_subjects();

/// `opt:pipeline:<name>` and `opt:random:<name>`: optimized programs on `device`.
std::vector<Subject> optimized_subjects(const Subject& device);

/// Inserts an assert before every access that is marked `in_bounds`: traps if the mark is wrong.
void assert_marks(Program& program);

}  // namespace vyre::lab
