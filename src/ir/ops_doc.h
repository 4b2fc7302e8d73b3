#pragma once

// The reference of the operations, made from the rows of ops.def: what `vyre explain add` prints,
// and docs/ops.md.

#include <string>

#include "ir/ops.h"

namespace vyre {

/// How a program writes the op, with a, b, c for its values: "a + b", "clamp(a, b, c)", "m[i]". ""
/// for what only the IR form has (`yield`, `scalar`, …).
std::string written_form(Opcode code);

/// The operands and the result in words: "two values of one type; gives one of that type".
std::string signature_in_words(Opcode code);

/// The op's entry for a terminal, with the place of the docs.
std::string explain_op(Opcode code);

/// The whole of docs/ops.md: ops grouped as in ops.def, a heading (`#atomic_add`) each.
std::string ops_markdown();

}  // namespace vyre
