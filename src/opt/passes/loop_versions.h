#pragma once

// The part of eliminate_bounds_checks that gives loops a copy without tests
// (eliminate_bounds_checks.h).

#include "opt/analysis/analysis_cache.h"

namespace vyre::opt {

/// `most`: by buffer, the most elements that it can have. Gives whether anything changed; then the
/// program is compact again.
bool version_loops(Program& program, PassContext& context, const IdMap<BufferId, Wide>& most);

}  // namespace vyre::opt
