#pragma once

// Checks whether the program is well-formed. A Program may come from hostile bytes: any id may be
// out of range, lists may overlap, links may form cycles. These checks assume nothing, take time
// linear in the arrays and no recursion. Every other check, and all code that walks a program,
// relies on them.
//
// A program that passes is a tree: every op is in exactly one block, every block but the body
// belongs to exactly one op, every value is defined exactly once, every list has its own cells of
// Program::ids, and every use sees its definition. The arrays contain nothing outside of the tree.

#include "check/check_limits.h"
#include "check/check_report.h"
#include "ir/program.h"

namespace vyre {

/// Runs all of the checks below, each only if the previous ones pass. False: no other code may read
/// the program.
bool check_structure(const Program& program, Reporter& report);

/// Checks every field separately: enums, ids and lists in range, attributes, numbers of operands,
/// results and blocks. (check_arrays.cc)
bool check_arrays(const Program& program, Reporter& report, uint64_t max_ops = limits::ops);

/// The links between ops and blocks, nesting, and which exit ends which block. (tree.cc)
bool check_tree(const Program& program, Reporter& report);

/// Definitions and uses of values. (scopes.cc)
bool check_values(const Program& program, Reporter& report);

/// Locations and the chains of calls they form: in range, earlier ones only, no chain above the
/// nesting limit. (locations.cc)
bool check_locations(const Program& program, Reporter& report);

/// The number of blocks of an op of this kind.
constexpr uint8_t blocks_of(Opcode code) {
  switch (code) {
    case Opcode::If:
    case Opcode::While: return 2;
    case Opcode::For:
    case Opcode::Region: return 1;
    default: return 0;
  }
}

}  // namespace vyre
