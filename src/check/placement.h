#pragma once

// Barriers, subgroup operations and uniform loads stand where all invocations of their scope come
// together.

#include "check/check_report.h"
#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

void check_placement(const Program& program, const UniformityInfo& uniformity, Reporter& report);

}  // namespace vyre
