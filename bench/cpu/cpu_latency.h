#pragma once

// What a user waits for besides the kernel: compiling, loading from the disk cache, an empty
// launch. In a warm process: each is measured after it was done at least once.

#include <string>
#include <vector>

namespace bench {

struct Latency {
  std::string what;
  double median_us = 0, best_us = 0;
  double cpu_us =
      0;  // median of the process's CPU time: what other load on the machine does not change
  double goal_us = 0;
  std::string problem;  // why there is no number
};

std::vector<Latency> measure_latency(const std::string& backend, bool quick);

}  // namespace bench
