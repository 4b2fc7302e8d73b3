#pragma once

// Structures the exits of a program with barriers of one scope, so that it can be split at them: by
// the splitter at grid barriers, by the CPU emitter at workgroup barriers. Every op that contains
// such a barrier is then
//   - a region or an `if` whose blocks end with `yield` or `trap`, or
//   - a `while` whose test has only pure ops, and whose body ends with `yield` or `trap`.
//
// A `for` around a barrier becomes a `while` that counts its trips. `break`, `continue` and
// `return` that leave ops around a barrier become flags: the op that contained them returns the
// flags as additional results, and the ops after it in its block move into the else block of an
// `if`. A test with effects moves into its loop's body. The program's results and its uniformity
// stay the same: a flag depends on the same values as the exit.
//
// Returns after the last barrier of the body stay as they are. Linear in the number of ops; the
// nesting grows by one for each op with exits.

#include "ir/program.h"

namespace vyre::plan {

/// A barrier of this scope, or the `uniform_load` that is one.
bool is_sync(const Program& program, OpId op, Scope scope);
/// `barrier grid` or `uniform_load(…, grid)`.
bool is_grid_sync(const Program& program, OpId op);

/// For each op: true if its blocks contain a barrier of the scope.
IdMap<OpId, bool> find_split_ops(const Program& program, Scope scope = Scope::Grid);

Program structure_exits(const Program& program, Scope scope = Scope::Grid);

}  // namespace vyre::plan
