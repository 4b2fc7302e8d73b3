#pragma once

// Plain updates, `b[i] += e`, of one element by all invocations at once: a race in every run that
// reaches them.

#include "check/check_report.h"
#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

/// Warns of a store whose value comes from a load of the same element, at an index that is uniform
/// over the invocations that share the buffer, in flow that all of them reach. Certain from the
/// program alone: a workgroup or a constant grid has more than one invocation, and there is no
/// acq_rel atomic that could order them. Covers shared arrays and what the host reads. Needs a
/// program without errors; runs in linear time.
void check_update_by_all(const Program& program, const UniformityInfo& uniformity,
                         Reporter& report);

}  // namespace vyre
