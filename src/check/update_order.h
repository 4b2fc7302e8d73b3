#pragma once

// Elements whose final value depends on the order of execution: unordered invocations change them
// by atomics that do not commute.
//
// The analysis reports only facts that are visible in the program. An update whose index comes from
// the invocation's id is presumed to have an element per invocation (of the workgroup, if it is
// local_id alone); one invocation makes an update in `if id == uniform`. Barriers divide the flow
// into segments: updates in different segments are ordered, unless control flow connects the
// segments without a barrier.
// segments without a barrier.
//
// An order is proved to matter if all invocations make both updates, in one segment, at one index
// that is uniform over them, and the program has no acq_rel atomic that could order them.

#include "check/check_report.h"
#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

/// Notes each update that does not commute with itself or an earlier one on the same element. With
/// `exact`, a proved one is an error, and so is a proved old value that is stored to an output.
/// Runs in nearly linear time. Needs a program without errors.
void check_update_order(const Program& program, const UniformityInfo& uniformity, bool exact,
                        Reporter& report);

}  // namespace vyre
