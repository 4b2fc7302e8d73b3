#pragma once

// For tests of how work grows: the time of the machine's clock says more about its other users.

#include <ctime>

namespace vyre {

/// That this process has had so far, with all its threads.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

}  // namespace vyre
