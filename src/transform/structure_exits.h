#pragma once

// Brings a program with barriers of one scope into the form that is cut at them: by the splitter at
// grid barriers, by the CPU emitter at those of a workgroup. Every op that holds such a barrier is
// then
//   - a region or an `if` whose blocks end with `yield` or `trap`, or
//   - a `while` whose test has only pure ops, and whose body ends with `yield` or `trap`.
//
// A `for` around a barrier becomes a `while` that counts its trips. `break`, `continue` and
// `return` that leave ops around a barrier become flags: the op that held them gives them as
// further results, and what follows it in its block stands in the other arm of an `if`. A test with
// effects moves into its loop's body. The meaning stays the same, and so does what is uniform: a
// flag depends on what the exit depended on.
//
// Returns behind the last barrier of the body stay as they are. Linear; a program gets deeper by
// one for each op with exits.

#include "ir/program.h"

namespace vyre::plan {

/// A barrier of this scope, or the `uniform_load` that is one.
bool is_sync(const Program& program, OpId op, Scope scope);
/// `barrier grid` or `uniform_load(…, grid)`.
bool is_grid_sync(const Program& program, OpId op);

/// For each op: does it hold a barrier of the scope in its blocks?
IdMap<OpId, bool> find_split_ops(const Program& program, Scope scope = Scope::Grid);

Program structure_exits(const Program& program, Scope scope = Scope::Grid);

}  // namespace vyre::plan
