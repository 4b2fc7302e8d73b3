#pragma once

// Programs of which a device cannot run some ops, or not exactly, become programs that it can: the
// same bytes from the ops that are left. Plain IR to IR, so the interpreter is the judge of every
// expansion: it must give the same bytes before and after.
//
// Who emits the result must know:
//
//  - Ops may have the mark that their row declares (OpMark, ir/ops.h). A `bitcast` from a float to
//    an integer with AnyNan may give any NaN's bits; one without is that of the specification. With
//    `functions`, a float op with ByFunction is a call: the native op would be wrong, and form() is
//    what it must compute.
//  - Reductions and scans of subgroups over floats are shuffles and scalar ops, whatever the
//    profile. The same of 64-bit integers where subgroup_extended_types or int64 is missing; their
//    shuffles and broadcasts are then two of 32 bits, and the ballot is a subgroup_or of u32. The
//    steps are those of subgroups as the kernel observes them.
//  - Without int64 nothing has 64 bits any more (see also wide.h): a buffer, array or table of
//    64-bit elements has twice as many u32 instead. Its `len` and bounds are those of the u32s,
//    twice the count of elements that the host gives. Indices and lengths are u32 (or less); more
//    than 2^32-1 u32s in a buffer are an error before the launch, as for every kernel with `len`.
//    64-bit scalars stay in Program::buffers, for formulas, and nothing reads them: for each of
//    them, in order, two u32 scalars are appended to Program::buffers, its lower and its upper
//    half.
//  - Without choose32 an f32 may still be compared with a constant that is neither zero nor
//    subnormal. The device's compiler must not know that constant: it would make a minimum, which
//    flushes subnormals, of the comparison and a choice between the two.
//  - Integer ops are those of IntegerOps. Ops marked InRange may give anything outside of the range
//    of native instructions.
//  - Left alone is what the emitter does itself: narrow loads and stores, float atomics, constant
//    zeros, lane numbering, votes, integer reductions, shuffles.

#include "diagnostics/result.h"
#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

/// The program has passed the checker, has no grid barrier and no functions (opt expands those).
/// An error (V0734) for what cannot be put together: f64 without f64 (or without 64-bit integers),
/// 64-bit atomics without them. Buffers keep their numbers; linear in the size of the result. A
/// program with nothing to expand comes back as it is. `subgroup_size` is what programs observe
/// that fix none; 0: the profile's. `functions`: the long forms of sums, products, quotients, roots
/// and fma are not written at each use, but stay ops that are marked.
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

/// What an op with the mark ByFunction stands for, with the same profile: no kernel, but a
/// program whose block 0 has the operands as arguments and yields the result. All are of `type`.
/// Exact for the operands that get there: what the native op computes right may be kept away by a
/// test.
Program form(Opcode code, Type type, const Profile& profile);

}  // namespace vyre::emit_exact
