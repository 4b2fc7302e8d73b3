#pragma once

// Plain OpenMP baselines of the kernels of bench/programs.txt: the loop that a C++ programmer
// writes for the same work, with one `parallel for`. Compiled by g++ -O3 -march=native -fopenmp
// -ffp-contract=off. Arguments come in the order of the kernel's parameters.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "twins.h"

namespace bench {

/// Returns the baseline of this name, or null.
Twin find_baseline(std::string_view name);

/// An entry of the list that find_baseline() searches.
struct Baseline {
  Baseline(std::string_view name, Twin run);
  std::string_view name;
  Twin run;
  const Baseline* next;
};

inline float float_scalar(const TwinArgs& args, int i) {
  return std::bit_cast<float>(args.scalars[i]);
}

}  // namespace bench

/// Defines and registers a baseline.
#define BASELINE(name)                                 \
  static void name(const ::bench::TwinArgs& args);     \
  static const ::bench::Baseline name##_(#name, name); \
  static void name(const ::bench::TwinArgs& args)
