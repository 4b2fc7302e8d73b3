#pragma once

// The pages of the error codes, for the terminal and for docs/errors.md, both from the table of
// code_table.h.

#include <string>

#include "diagnostics/code_table.h"

namespace vyre {

/// The output of `vyre explain CODE`: heading, and the page with its code indented.
std::string explain_text(const CodeInfo& code);

/// References to the documentation: the code's page, and the chapter of the language if there is
/// one. "See docs/errors.md#v0140", one per line.
std::string explain_links(const CodeInfo& code);

/// The whole of docs/errors.md: codes grouped by layer, an anchor (`#v0301`) each.
std::string errors_markdown();

}  // namespace vyre
