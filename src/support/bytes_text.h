#pragma once

// Numbers of bytes for people: "96 KiB", "15.6 GiB".

#include <cstdint>
#include <string>

namespace vyre {

/// Four digits at most.
std::string bytes_text(uint64_t bytes);

}  // namespace vyre
