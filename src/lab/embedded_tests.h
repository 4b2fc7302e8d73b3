#pragma once

// The programs of the conformance suite, with the files that they import and read. CMake writes the
// source (cmake/embed_tests.cmake).

#include <span>
#include <string_view>

namespace vyre::lab {

struct EmbeddedFile {
  std::string_view path;  // below the root of the source tree
  std::string_view bytes;
};

std::span<const EmbeddedFile> embedded_tests();

}  // namespace vyre::lab
