#pragma once

// Files of the source tree that the build puts into the library. cmake/embed.cmake writes the
// definitions.

#include <span>
#include <string_view>

namespace vyre {

struct EmbeddedFile {
  std::string_view path;  // below the root of the source tree
  std::string_view bytes;
};

/// The pages of the error codes: src/diagnostics/codes/*.md.
std::span<const EmbeddedFile> embedded_code_pages();
/// The pieces of the report page: src/report/page/*, in the order of their names.
std::span<const EmbeddedFile> embedded_report_page();
/// The programs of the conformance suite, with the files that they import and read.
std::span<const EmbeddedFile> embedded_tests();

}  // namespace vyre
