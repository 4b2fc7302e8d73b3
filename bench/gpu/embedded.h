#pragma once

// Files inside the program: the kernels and the machine code of the CUDA baselines.
// bench/common/embed.cmake writes the definition.

#include <string_view>

namespace bench {

/// Returns the bytes of "copy.vyre" or "twins_same.cubin"; empty if the file does not exist.
std::string_view embedded(std::string_view name);

}  // namespace bench
