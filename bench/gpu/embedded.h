#pragma once

// Files inside the program: the kernels and the machine code of the CUDA twins. embed.cmake writes them.

#include <string_view>

namespace bench {

struct EmbeddedFile {
  std::string_view name;  // "copy.vyre", "twins_same.cubin"
  std::string_view bytes;
};

/// Empty: there is none of this name.
std::string_view embedded(std::string_view name);

}  // namespace bench
