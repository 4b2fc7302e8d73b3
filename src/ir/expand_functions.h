#pragma once

// exp exp2 log log2 sin cos tan tanh pow atan2 as plain IR ops, for targets that have no such op
// of their own (none has one with our bits).
//
// Sound because there is one text: functions.h, whose templates the interpreter evaluates on
// numbers (eval_functions.cc) and this pass on IR values. Every operation of that text is one op of
// the table with the meaning that the algebra in functions_native.h has. The two differ only in the
// bits of a NaN, which a program cannot see.
//
// The new ops stand before the op they replace and have its location. They are f32, i32, u32 and
// bool only, never f64, and without control flow or memory, so uniformity and placement stay as
// they were. Their order is the same whatever compiler built us. Constants are shared within one
// expansion; sharing between expansions is left to value numbering.

#include <bitset>

#include "ir/program.h"

namespace vyre {

/// A set of opcodes.
using OpMask = std::bitset<256>;
inline OpMask all_opcodes() { return OpMask().set(); }

/// Expands the functions that are in `which` (other ops in it don't count) and compacts. Gives
/// whether there were any; if not, the program is left alone, ids and all. Linear: an op becomes
/// at most 200.
bool expand_functions(Program& program, const OpMask& which = all_opcodes());

}  // namespace vyre
