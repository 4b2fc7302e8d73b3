#pragma once

// `vyre fmt`: the source as we like to see it. Tokens and comments stay; spaces, indentation and
// blank lines are ours. Formatting twice changes nothing, and the meaning never changes.

#include <string>
#include <string_view>

#include "diagnostics/result.h"

namespace vyre {

/// The formatted text, or why the source cannot be read.
Result<std::string> format_source(std::string_view source, const std::string& file_name);

}  // namespace vyre
