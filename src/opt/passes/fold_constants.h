#pragma once

// Computes what is known: pure ops whose operands are constants, ifs whose condition is one, loops
// that run no iteration.
//
// Sound because there is one meaning of every op, the shared eval(), and it is total. An op with an
// effect is never folded, only the ops around it; the arm of an `if` that is not taken is never
// reached, whatever it holds.
//
// Does nothing to loops with iterations (unroll does), nor to conditions that are only known to be
// inside a range (simplify does). Linear.

#include <optional>

#include "opt/pass.h"
#include "opt/rewriter.h"

namespace vyre::opt {

Result<bool> fold_constants(Program& program, PassContext& context);

/// The value of a pure op whose operands are all constants, or none. The caller holds ExactFloats.
std::optional<uint64_t> constant_result(const Program& program, const Rewriter& rewriter, OpId op);

inline constexpr PassDescriptor fold_constants_pass = {
    .name = "fold_constants",
    .summary = "computes ops of constants, and takes the known arm of an `if`",
    .run = fold_constants,
    .phase = Phase::Canonical,
    .family = CostFamily::Scalar,
};

}  // namespace vyre::opt
