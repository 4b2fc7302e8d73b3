#pragma once

// The gain of each optimizer pass on each kernel, measured by omitting the pass, and the cost of
// bounds checks, measured by disabling them. Runs on one core.

#include "cpu_measure.h"

namespace bench {

struct PassStudy {
  std::string kernel;
  std::map<std::string, Timing> times;  // "all", "none", "unchecked", and by pass that was left out
};

PassStudy study_passes(const Case& c, vyre::driver::Device device, const MeasureOptions& how);
void print_passes(const std::vector<PassStudy>& rows, bool cpu_time);

}  // namespace bench
