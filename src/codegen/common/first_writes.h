#pragma once

// Finds the shared and private arrays that need no zeros at the start, because every element that
// is read was written before: by the same workgroup (shared) or invocation (private), on every
// path.
//
// One walk over the program. Indices and conditions that depend only on the position in the
// workgroup and on constants are computed for each invocation (there are at most 1,024). So any
// arrangement of elements is recognized: rows, columns, swizzles, borders that some invocations
// write. Other indices are unknown: such a store surely writes nothing, and such a load reads every
// element.
//
// Writes of other invocations of the workgroup count after the next barrier; those of invocations
// that run in step count at once. Invocations that may have trapped or returned surely write
// nothing.

#include <vector>

#include "check/uniformity.h"
#include "ir/program.h"

namespace vyre {

/// A kernel, and how its workgroups run.
struct ArrayUse {
  const Program& program;  // without function ops
  const UniformityInfo& uniformity;
  /// By op: true if its blocks contain a workgroup barrier. Empty: no op does.
  const IdMap<OpId, bool>& holds_barrier;
  uint32_t workgroup = 1;  // invocations
  uint32_t lanes = 1;      // of a subgroup
  uint32_t in_step = 1;    // neighbours that run in step: each sees the writes of the others
  /// True if workgroups also wait before and after ops that contain a barrier.
  bool waits_around = false;
};

/// By buffer: true if it must be zeroed; false for buffers that are not shared or private arrays.
IdMap<BufferId, bool> find_needed_zeros(const ArrayUse& use);

}  // namespace vyre
