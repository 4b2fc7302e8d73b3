#pragma once

// Latencies besides the kernel's own time: compilation, loading from the disk cache, an empty
// launch. The process is warm: each is measured after it was done at least once.

#include <string>
#include <vector>

namespace bench {

struct Latency {
  std::string what;
  double median_us = 0, best_us = 0;
  double cpu_us =
      0;  // median of the process's CPU time, which other load on the machine does not change
  double goal_us = 0;
  std::string problem;  // why the number is missing
};

std::vector<Latency> measure_latency(const std::string& backend, bool quick);

}  // namespace bench
