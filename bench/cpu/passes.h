#pragma once

// What the optimizer's passes gain on each kernel, by leaving them out, and what the checks of
// bounds cost, by forcing them off. On one core.

#include "cpu_measure.h"

namespace bench {

struct PassStudy {
  std::string kernel;
  std::map<std::string, Timing> times;  // "all", "none", "unchecked", and by pass that was left out
};

PassStudy study_passes(const Case& c, vyre::driver::Device device, const MeasureOptions& how);
void print_passes(const std::vector<PassStudy>& rows, bool cpu_time);

}  // namespace bench
