#pragma once

// The stages of expand(), in order. Each makes a new program that needs only the later ones.

#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

/// Float ops that the device does not compute right, reductions of subgroups over floats (and over
/// 64 bits, where the device has no 64-bit subgroup ops). May add operations on u64 and f64, the
/// latter only where the device has them. `functions`: long forms stay ops, marked ByFunction.
bool needs_float_stage(const Program& program, const Profile& profile);
Program expand_floats(const Program& program, const Profile& profile, bool functions);
/// The long form of an op: the operands are the arguments of block 0, which yields the result.
Program float_form(Opcode code, Type type, const Profile& profile);

/// (expand_integers is in expand.h: ops on integers that the target has no instruction for.)

/// 64-bit integers as pairs of u32; described in wide.h. Needs integers expanded for pairs.
bool needs_wide_stage(const Program& program);
Program expand_wide(const Program& program, const Profile& profile);

/// Bit counts and reversals of words from shifts and masks.
bool needs_bit_stage(const Program& program);
Program expand_bits(const Program& program);

}  // namespace vyre::emit_exact
