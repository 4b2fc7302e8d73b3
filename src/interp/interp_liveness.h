#pragma once

// Computes the op after which each value is dead, so that its slot in the frame can be reused.

#include <vector>

#include "ir/program.h"

namespace vyre::interp {

/// Lists of values by the op at whose end they die. A value that is used inside a control op lives
/// to the end of that op, seen from the block that defines it: loops iterate, and the branches of
/// an `if` may run in either order. Arguments of loops are on no list but for the counter of a
/// `for`; they share the slots of the loop's results.
struct Liveness {
  IdMap<OpId, ValueId> first;    // by OpId; none: nothing dies here
  IdMap<ValueId, ValueId> next;  // by ValueId
};

/// Runs in time linear in the size of the program.
Liveness find_liveness(const Program& program);

}  // namespace vyre::interp
