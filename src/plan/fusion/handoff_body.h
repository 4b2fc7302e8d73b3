#pragma once

// Copies a kernel's body into a block of a loop, where it runs once per iteration: its returns
// continue with the loop's next iteration.

#include "ir/cloner.h"

namespace vyre::plan {

/// Copies to the builder's position: the loop's body or a block of an `if` in it. Ends that block
/// with `yield`. The loop carries nothing.
void copy_producer_body(const Program& kernel, IrBuilder& writer);

}  // namespace vyre::plan
