#pragma once

// Replaces ops by simpler ones of the same value (algebraic simplification, a peephole pass): by a
// table of rules (simplify_rules.def), for sums of ids (simplify_ids.h) and conversions of
// conversions, and where ranges make an op superfluous.
//
// Sound because each rule is an identity of values, proved for every input, and values are SSA: a
// rule drops or adds uses of a value, never the op that made it. So an atomic whose result is
// multiplied by 0 stays (remove_dead_code keeps it), and none is ever run twice. A range of an
// operand at the op holds wherever the op's result is used.
//
// Terminates because every rule lowers a weight (simplify_rules.h). Besides, constants move to the
// right of commutative ops and comparisons, which lowers the number of those on the left and no
// weight, and a pair of conversions becomes one. Runs in time linear in the number of ops: each op
// is matched only against the rules of its opcode.
//
// Leaves ops without uses for remove_dead_code, and ifs with known conditions for fold_constants. A
// second run finds something only where ranges see more of the simpler program.

#include "opt/pass.h"

namespace vyre::opt {

Result<bool> simplify(Program& program, PassContext& context);

/// True if cast<to>(cast<through>(x)) is always cast<to>(x), x of type `from`.
bool casts_merge(Type from, Type through, Type to);
/// True if bitcast<to>(bitcast<through>(x)) is always bitcast<to>(x), x of type `from`.
bool bitcasts_merge(Type from, Type through, Type to);

inline constexpr PassDescriptor simplify_pass = {
    .name = "simplify",
    .summary = "replaces ops by simpler ones of the same value",
    .run = simplify,
    .phase = Phase::Canonical,
    .family = CostFamily::Scalar,
    .uses = {Fact::Ranges},
};

}  // namespace vyre::opt
