#pragma once

// Copies a kernel's body into a block of a loop, where it runs once a trip: its returns go on with
// the loop's next trip.

#include "ir/cloner.h"

namespace vyre::plan {

/// To where the writer stands: the loop's body or a block of an `if` in it; this ends it with
/// `yield`. The loop carries nothing.
void copy_producer_body(const Program& kernel, IrBuilder& writer);

}  // namespace vyre::plan
