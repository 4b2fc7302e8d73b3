#pragma once

// The table of error codes with their titles and pages. `vyre explain CODE` prints a page and
// docs/errors.md is generated from all of them (explain.h). The pages are the Markdown files
// codes/*.md, embedded by the build: a page is a heading `# V0301: title` and the text up to the
// next heading.

#include <span>
#include <string_view>

#include "diagnostics/code.h"

namespace vyre {

/// `page` is Markdown: the meaning of the code, an example, the fix. It starts and ends with a
/// newline.
struct CodeInfo {
  Code code;
  std::string_view name;
  Severity severity;
  std::string_view title;
  std::string_view page;
};

/// Returns all codes, ascending. A code without a page has an empty title and page; a test rejects
/// that.
std::span<const CodeInfo> all_codes();
const CodeInfo& info(Code code);
/// Finds "V0102", "v102" or "102"; null if no code has that number.
const CodeInfo* find_code(std::string_view text);

}  // namespace vyre
