#pragma once

// Tokens to syntax. Checks the grammar, not names or types. Recovers at statement ends, so that all
// errors of a file are found at once.

#include "diagnostics/diagnostic.h"
#include "text/ast.h"

namespace vyre::text {

inline constexpr uint32_t max_nesting = 1000;
inline constexpr size_t max_errors = 100;

/// One `import "…"`.
struct Import {
  TokenId token = 0;
  std::string path;
};

/// Parses the tokens from `begin` up to their End, appending declarations to the Ast.
void parse_file(Ast& ast, TokenId begin, std::vector<Import>& imports, Diagnostics& errors);

/// The content of a string token, escapes resolved.
std::string unquote(std::string_view token);

}  // namespace vyre::text
