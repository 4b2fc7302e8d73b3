#pragma once

// After which op each value is needed no more, so that its place in the frame can be used again.

#include <vector>

#include "ir/program.h"

namespace vyre::interp {

/// Lists of values by the op at whose end they die. A value that is used inside a control op lives
/// to the end of that op, seen from the block that defines it: loops come back, and the arms of an
/// `if` may run in either order. Arguments of loops are on no list but for the counter of a `for`;
/// they share the places of the loop's results.
struct Liveness {
  IdMap<OpId, ValueId> first;    // by OpId; none: nothing dies here
  IdMap<ValueId, ValueId> next;  // by ValueId
};

/// Linear.
Liveness find_liveness(const Program& program);

}  // namespace vyre::interp
