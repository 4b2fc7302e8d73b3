#pragma once

// `vyre fmt`: the source in the standard format. Tokens and comments stay; spaces, indentation and
// blank lines are normalized. Formatting is idempotent, and the meaning never changes.

#include <string>
#include <string_view>

#include "diagnostics/result.h"

namespace vyre {

/// The formatted text, or the reason why the source cannot be read.
Result<std::string> format_source(std::string_view source, const std::string& file_name);

}  // namespace vyre
