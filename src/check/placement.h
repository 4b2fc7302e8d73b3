#pragma once

// Checks that barriers, subgroup operations and uniform loads are in flow that is uniform over
// their scope.

#include "check/check_report.h"
#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

void check_placement(const Program& program, const UniformityInfo& uniformity, Reporter& report);

}  // namespace vyre
