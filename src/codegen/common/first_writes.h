#pragma once

// Which shared and private arrays need no zeros at the start, because everything that is read was
// written before: by the same workgroup (shared) or invocation (private), on every way there.
//
// One walk over the program. Indices and conditions that depend only on the place in the workgroup
// and on constants are computed for each invocation (there are at most 1,024), so any arrangement
// of elements is seen: rows, columns, swizzles, borders that some invocations write. What else is
// not known: then a store writes nothing for sure, and a load reads every element.
//
// What others of the workgroup have written counts behind the next barrier; what those have written
// that run in step with an invocation counts at once. Invocations that may have trapped or returned
// write nothing for sure.

#include <vector>

#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

/// A kernel, and how its workgroups run.
struct ArrayUse {
  const Program& program;  // without function ops
  const UniformityInfo& uniformity;
  /// By op: is there a barrier of the workgroup in its blocks? Empty: in none.
  const IdMap<OpId, bool>& holds_barrier;
  uint32_t workgroup = 1;  // invocations
  uint32_t lanes = 1;      // of a subgroup
  uint32_t in_step = 1;    // neighbours of which each finds what the others have written
  /// Do workgroups wait before and behind ops that hold a barrier, too?
  bool waits_around = false;
};

/// By buffer: must it be zeroed? False for what is no shared or private array.
IdMap<BufferId, bool> find_needed_zeros(const ArrayUse& use);

}  // namespace vyre
