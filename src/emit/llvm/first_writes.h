#pragma once

// Which shared and private arrays need no zeros at the start, because everything that is read was
// written before: by the same workgroup (shared) or invocation (private), on every way there.
//
// One walk over the program. Indices and conditions that depend only on the place in the workgroup
// and on constants are computed for each invocation (there are at most 1,024), so any arrangement
// of elements is seen: rows, columns, swizzles, borders that some invocations write. What else is
// not known: then a store writes nothing for sure, and a load reads every element.
//
// What others of the workgroup have written counts from the next stretch on (phases.h), since a
// stretch is run subgroup by subgroup; what the own subgroup has written counts at once.
// Invocations that may have trapped or returned write nothing for sure.

#include <vector>

#include "emit/llvm/prepare.h"

namespace vyre::emit_llvm {

/// By buffer: must it be zeroed? False for what is no shared or private array.
std::vector<bool> find_needed_zeros(const Prepared& kernel);

}  // namespace vyre::emit_llvm
