#pragma once

// Simplifies sums and quotients of ids (algebraic simplification), as part of simplify. In each
// dimension d
//
//   global_id.d = workgroup_id.d * workgroup_size.d + local_id.d
//
// and that never wraps, since a launch has fewer than 2^32 invocations in a dimension. The base of
// the workgroup, workgroup_id.d * workgroup_size.d, may be written as a product or a shift.
//
//   global_id.d - base -> local_id.d          base + local_id.d -> global_id.d
//   (global_id.d + z) - base -> local_id.d + z     global_id.d - local_id.d -> base
//   global_id.d / workgroup_size.d -> workgroup_id.d
//   global_id.d % workgroup_size.d -> local_id.d
//
// tests/opt/passes/simplify_proof_test.cc proves them. Each lowers the weight of simplify_rules.h,
// ids counted as ops of weight 4.

#include "opt/rewriter.h"

namespace vyre::opt {

/// Returns a value that is equal to the op's, or none. New ops are inserted before the op.
ValueId simplify_ids(Program& program, Rewriter& rewriter, OpId op);

}  // namespace vyre::opt
