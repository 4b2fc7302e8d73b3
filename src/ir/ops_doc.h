#pragma once

// The reference of the operations, made from the rows of ops.def: what `vyre explain add` prints,
// and docs/ops.md.

#include <string>

#include "ir/ops.h"

namespace vyre {

/// The form in which a program uses the op, with a, b, c for its values: "a + b", "clamp(a, b, c)",
/// "m[i]". "" for ops that only the IR form has (`yield`, `scalar`, …).
std::string written_form(Opcode code);

/// The operands and the result in words: "two values of one type; gives one of that type".
std::string signature_in_words(Opcode code);

/// The op's entry for a terminal, with the address of its documentation.
std::string explain_op(Opcode code);

/// The whole of docs/ops.md: ops grouped as in ops.def, with a heading (`#atomic_add`) per op.
std::string ops_markdown();

}  // namespace vyre
