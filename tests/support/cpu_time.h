#pragma once

// CPU time for tests of growth: wall time depends on the other load of the machine.

#include <ctime>

namespace vyre {

/// CPU time of this process so far, all its threads together.
inline double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace vyre
