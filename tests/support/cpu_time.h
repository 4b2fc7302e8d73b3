#pragma once

// For tests of how work grows: the time of the machine's clock says more about its other users.

#include <ctime>

namespace vyre {

/// CPU time of this process so far, all its threads together.
inline double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace vyre
