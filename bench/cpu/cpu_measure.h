#pragma once

// Times of all peers of one case, by Google Benchmark: repeats of all of them in random order, so
// that a slow second of the machine affects all peers, and the median over repeats.

#include <map>
#include <string>
#include <vector>

#include "cpu_peers.h"

namespace bench {

struct Timing {
  double median_us = 0, best_us = 0;  // submit to wait, for one launch
  double device_us = 0;               // median of the device's own times; 0: not measured
  double cpu_us = 0;                  // median; of all threads together
  std::vector<double> repeats_us;
};

struct MeasureOptions {
  int repeats = 9;
  double seconds = 0.05;  // of one repeat
  bool verbose = false;
};

/// Once, before the first measure().
void start_measuring();

/// Peers by name.
std::map<std::string, Timing> measure(const std::string& kernel,
                                      const std::map<std::string, Peer*>& peers,
                                      const MeasureOptions& options);

/// How many elements of two results differ by more than the case allows, and the first of them.
struct Difference {
  size_t count = 0, elements = 0;
  std::string first;
};
Difference compare(const Case& c, size_t parameter, std::span<const std::byte> expected,
                   std::span<const std::byte> got, double tolerance);

}  // namespace bench
