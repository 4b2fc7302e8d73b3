#pragma once

// Latencies besides the kernel's own time: compilation, first launches, the host time of a launch,
// graphs.

#include <string>
#include <vector>

#include "gpu_measure.h"

namespace bench {

struct Latency {
  std::string what;
  std::string backend;  // "": of the peer alone
  double value = 0;
  std::string unit;  // "ms", "us", "x"
  double goal = 0;   // 0: none
  bool at_least = false;
  std::string note;
  std::string failure;  // instead of a value

  bool holds() const { return failure.empty() && (at_least ? value >= goal : value <= goal); }
};

std::vector<Latency> measure_latency(const std::string& backend, vyre::driver::Device device,
                                     const std::shared_ptr<Cuda>& cuda, const Options& options);

}  // namespace bench
