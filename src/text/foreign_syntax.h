#pragma once

// Recognizes constructs of CUDA, OpenCL, GLSL, HLSL, WGSL, C, Rust and Python and returns the vyre
// form. Works on tokens, after an error was found: it changes the text of errors, never the set of
// accepted programs.

#include <string>

#include "text/ast.h"

namespace vyre::text {

/// An error in a construct and the construct's vyre form. An empty `what` keeps the message of the
/// parser; an empty `fix` means that the construct is not recognized.
struct ForeignConstruct {
  std::string what;
  std::string fix;
};

/// The statement, declaration or parameter whose first token is `begin`.
ForeignConstruct foreign_statement(const Ast& ast, TokenId begin);
ForeignConstruct foreign_declaration(const Ast& ast, TokenId begin);
ForeignConstruct foreign_parameter(const Ast& ast, TokenId begin);

/// `x[i][j]` for the element of a row: `name` is the token of `x`, `bracket` the second `[`, `end`
/// its `]`.
ForeignConstruct element_of_row(const Ast& ast, TokenId name, TokenId bracket, TokenId end);

/// A number with the suffix of another language, as vyre writes it: `1.0f`, `7u`; or "".
std::string foreign_number(std::string_view token);

/// The replacement for a name or call that does not exist. `end` is the token after it: all tokens
/// up to it are replaced.
struct ForeignValue {
  std::string vyre;
  TokenId end = 0;
  std::string_view note = "";  // when, or where, to write it

  std::string fix() const;
};
/// `threadIdx.x`, `get_global_id(0)`, `blockIdx.x * blockDim.x + threadIdx.x`, `fmaxf(a, b)`,
/// `float(i)`, `tl.load(x)`; an empty `vyre` if it is not recognized.
ForeignValue foreign_value(const Ast& ast, TokenId begin);

/// The source of the tokens in [begin, end), on one line; "…" if it is long.
std::string source_text(const Ast& ast, TokenId begin, TokenId end);
/// The arguments of the call whose name is the token `name`.
std::vector<std::string> argument_texts(const Ast& ast, TokenId name);

}  // namespace vyre::text
