#pragma once

// Constant folding: computes pure ops whose operands are constants, and resolves ifs with a
// constant condition and loops without iterations.
//
// Sound because every op has one definition, the shared eval(), and it is total. An op with an
// effect is never folded, only the ops around it; the branch of an `if` that is not taken is never
// reached, whatever it holds.
//
// Does not change loops with iterations, nor conditions of which only a range is known (simplify
// handles those). Runs in time linear in the number of ops.

#include <optional>

#include "opt/pass.h"
#include "opt/rewriter.h"

namespace vyre::opt {

Result<bool> fold_constants(Program& program, PassContext& context);

/// Returns the value of a pure op whose operands are all constants, or none. The caller holds
/// ExactFloats.
std::optional<uint64_t> constant_result(const Program& program, const Rewriter& rewriter, OpId op);

inline constexpr PassDescriptor fold_constants_pass = {
    .name = "fold_constants",
    .summary = "computes ops of constants, and takes the known arm of an `if`",
    .run = fold_constants,
    .phase = Phase::Canonical,
    .family = CostFamily::Scalar,
};

}  // namespace vyre::opt
