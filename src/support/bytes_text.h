#pragma once

// Readable sizes in bytes: "96 KiB", "15.6 GiB".

#include <cstdint>
#include <string>

namespace vyre {

/// Four digits at most.
std::string bytes_text(uint64_t bytes);

/// The exact number, and from 1 MiB on its value in units: "8192 bytes", "4294967296 bytes (4
/// GiB)"; without the noun "8192", "4294967296 (4 GiB)".
std::string exact_bytes(uint64_t bytes, bool noun = true);

}  // namespace vyre
