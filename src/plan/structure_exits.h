#pragma once

// Brings a program with grid barriers into the form that the splitter cuts. Every op that holds a
// grid barrier is then
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

/// `barrier grid` or `uniform_load(…, grid)`.
bool is_grid_sync(const Program& program, OpId op);

/// For each op: does it hold a grid barrier in its blocks?
std::vector<bool> find_split_ops(const Program& program);

Program structure_exits(const Program& program);

}  // namespace vyre::plan
