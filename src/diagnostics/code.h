#pragma once

// The numbers and names of the error codes. Their titles and pages are Markdown files,
// src/diagnostics/codes/*.md, which only code_table.cc reads: editing a page recompiles nothing
// else.

#include <cstdint>

namespace vyre {

enum class Severity : uint8_t { Error, Warning, Note };

enum class Code : uint16_t {
#define VYRE_CODE(number, name, severity) name = number,
#include "diagnostics/codes.def"
#undef VYRE_CODE
};

}  // namespace vyre
