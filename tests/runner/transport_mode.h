#pragma once

// Round trips of a module through text and through the wire form.

#include "diagnostics/result.h"
#include "ir/module.h"

namespace vyre::runner {

/// Prints and parses.
Result<Module> through_text(const Module& module);

/// Encodes and decodes.
Result<Module> through_wire(const Module& module);

}  // namespace vyre::runner
