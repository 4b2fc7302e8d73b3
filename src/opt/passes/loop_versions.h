#pragma once

// Loop versioning: the part of eliminate_bounds_checks that makes copies of loops without tests
// (eliminate_bounds_checks.h).

#include "opt/analysis/analysis_cache.h"

namespace vyre::opt {

/// `most`: by buffer, the largest number of elements that it can have. Returns whether anything
/// changed; then the program is compact again.
bool version_loops(Program& program, PassContext& context, const IdMap<BufferId, Wide>& most);

}  // namespace vyre::opt
