#pragma once

// Expands exp exp2 log log2 sin cos tan tanh pow atan2 into plain IR ops, for targets without such
// an op (none has one with the specified bits).
//
// Sound because there is one text: functions.h, whose templates the interpreter evaluates on
// numbers (eval_functions.cc) and this pass on IR values. Every operation of that text is one op of
// the table with the meaning that the algebra in functions_native.h has. The two differ only in the
// bits of a NaN, which a program cannot see.
//
// The new ops are inserted before the op they replace and have its location. They are f32, i32, u32
// and bool only, never f64, and without control flow or memory, so uniformity and placement stay as
// they were. Their order does not depend on the C++ compiler. Constants are shared within one
// expansion; sharing between expansions is left to value numbering.

#include <bitset>

#include "ir/program.h"

namespace vyre {

/// A set of opcodes.
using OpMask = std::bitset<256>;
inline OpMask all_opcodes() { return OpMask().set(); }

/// Expands the functions that are in `which` (other ops in it have no effect) and compacts. Returns
/// whether there were any; if not, the program is unchanged, including its ids. Runs in time linear
/// in the number of ops: an op becomes at most 200.
bool expand_functions(Program& program, const OpMask& which = all_opcodes());

}  // namespace vyre
