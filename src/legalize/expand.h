#pragma once

// Legalization: rewrites programs of which a device cannot run some ops, or not exactly, into
// programs that it can run, with the same results. It maps IR to IR, so the interpreter can check
// every expansion: it must compute the same bytes before and after.
//
// An emitter of the result must know:
//
//  - Ops may have the mark that their row declares (OpMark, ir/ops.h). A `bitcast` from a float to
//    an integer with AnyNan may give any NaN's bits; one without is that of the specification. With
//    `functions`, a float op with ByFunction is a call: the native op would be wrong, and form()
//    gives its meaning.
//  - Reductions and scans of subgroups over floats are shuffles and scalar ops, with every profile.
//    So are those over 64-bit integers where subgroup_extended_types or int64 is missing; their
//    shuffles and broadcasts are then two of 32 bits, and the ballot is a subgroup_or of u32. The
//    steps are those of subgroups as the kernel observes them.
//  - Without int64 no value has 64 bits (see also wide.h): a buffer, array or table of 64-bit
//    elements has twice as many u32 instead. Its `len` and bounds are those of the u32s, twice the
//    count of elements that the host passes. Indices and lengths are u32 (or less); more than
//    2^32-1 u32s in a buffer are an error before the launch, as for every kernel with `len`.
//    64-bit scalars stay in Program::buffers, for formulas, and no op reads them: for each of them,
//    in order, two u32 scalars are appended to Program::buffers, its lower and its upper half.
//  - Without choose32 an f32 may still be compared with a constant that is neither zero nor
//    subnormal. That constant must be hidden from the device's compiler: it would combine the
//    comparison and a selection between the two into a minimum, which flushes subnormals.
//  - Integer ops are those of IntegerOps. Ops marked InRange have unspecified results outside of
//    the range of native instructions.
//  - Not expanded, because the emitter does it: narrow loads and stores, float atomics, constant
//    zeros, lane numbering, votes, integer reductions, shuffles.

#include "diagnostics/result.h"
#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

/// The program has passed the checker, has no grid barrier and no functions (opt expands those).
/// Returns an error (V0734) for ops that cannot be expanded: f64 without f64 (or without 64-bit
/// integers), 64-bit atomics without them. Buffers keep their numbers; linear in the size of the
/// result. A program with nothing to expand is returned as it is. `subgroup_size` is the size for
/// programs that do not fix one; 0: the profile's. `functions`: the out-of-line expansions of sums,
/// products, quotients, roots and fma are not written at each use, but stay ops that are marked.
Result<Program> expand(const Program& program, const Profile& profile, uint32_t subgroup_size = 0,
                       bool functions = false);

/// The integer ops that a target has instructions for, beside those of 32 and 64 bits that wrap,
/// compare or choose. Shifts take the amount modulo the width; marked InRange, they need not.
struct IntegerOps {
  bool pairs = false;          // none of 64 bits, which become pairs of words later
  bool saturates_i32 = false;  // sat_add, sat_sub
  bool saturates_u64 = false;
  bool rotates32 = false;
  bool counts64 = false;    // clz, ctz, popcount, reverse_bits of 64 bits
  bool remainders = false;  // rem of negative numbers
};

/// A program of these ops. Divisions are marked InRange; numbers of 8 and 16 bits are computed in
/// words, and a cast to them that is marked InRange changes nothing. A program with nothing to
/// expand is returned unchanged. expand() includes this.
Program expand_integers(Program program, const IntegerOps& native);

/// True if legalization has marked the op so.
inline bool has_mark(const Op& op, OpMark mark) {
  return (info(op.code).marks & uint64_t(mark)) != 0 && op.attr == uint64_t(mark);
}

/// The program that an op marked ByFunction stands for, with the same profile. It is not a kernel:
/// its block 0 has the operands as arguments and yields the result. All are of `type`. Exact for
/// the operands that reach it: a test may keep away those that the native op computes right.
Program form(Opcode code, Type type, const Profile& profile);

}  // namespace vyre::emit_exact
