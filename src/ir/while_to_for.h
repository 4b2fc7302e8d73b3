#pragma once

#include "ir/program.h"

namespace vyre {

/// Rewrites `while c { body }` as a `for` with one block: the ops of the test,
/// `if !c { break }`, the ops of the body. The block gets a new first argument of type `index`; the
/// loop's operands stay the initial values, and the caller puts the bounds and the step before
/// them. The test block must end with `test`. Call compact() afterwards. Runs in time linear in the
/// number of ops of the two blocks, without nested ones.
void while_to_for(Program& program, OpId loop, Type index);

}  // namespace vyre
