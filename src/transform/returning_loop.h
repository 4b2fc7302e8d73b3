#pragma once

// Copies a loop without a grid barrier that contains a `return` which must become a flag: the loop
// carries the flag, and the return breaks with it set. A break leaves an enclosing `if` as it is;
// an inner loop gets its own flag, and a break after it.

#include <functional>

#include "ir/cloner.h"

namespace vyre::plan {

/// Copies the loop to the position of the copier's writer. `returns`: true if an op contains such a
/// return. Returns the flag; the loop's results are in the copier's map.
ValueId copy_returning_loop(OpId loop, const Program& from, IrBuilder& writer, Cloner& copier,
                            const std::function<bool(OpId)>& returns);

}  // namespace vyre::plan
