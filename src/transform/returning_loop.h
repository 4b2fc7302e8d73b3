#pragma once

// Copies a loop without a grid barrier that holds a `return` which must become a flag: the loop
// carries the flag, and the return breaks with it set. An `if` inside can be left by a break as it
// is; a loop inside gets a flag of its own, and a break behind it.

#include <functional>

#include "ir/cloner.h"

namespace vyre::plan {

/// Copies the loop to where the copier's writer stands. `returns`: does an op hold such a return?
/// Gives the flag; the loop's results are in the copier's map.
ValueId copy_returning_loop(OpId loop, const Program& from, IrBuilder& writer, Cloner& copier,
                            const std::function<bool(OpId)>& returns);

}  // namespace vyre::plan
