#pragma once

// What all libFuzzer targets do with what they found.

#include <cstdio>
#include <cstdlib>
#include <string>

namespace vyre {

/// Aborts with the problem, so that libFuzzer keeps the input; "" is none.
inline int report(const std::string& problem) {
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

}  // namespace vyre
