#pragma once

// A module there and back again, through text and through wire form.

#include "ir/module.h"
#include "support/result.h"

namespace vyre::runner {

/// Prints and parses.
Result<Module> through_text(const Module& module);

/// Encodes and decodes.
Result<Module> through_wire(const Module& module);

}  // namespace vyre::runner
