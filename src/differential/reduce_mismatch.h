#pragma once

// Reduces a program about which two configurations disagree to a text test.

#include <functional>
#include <string>

#include "differential/mismatch_judge.h"
#include "reduce/reduction.h"

namespace vyre::lab {

struct ReduceOptions {
  double seconds = 0;                 // 0: no limit; the best so far is then the result
  std::function<bool()> should_stop;  // may be empty
  std::function<void(const reduce::Progress&)> progress;
};

struct ReducedMismatch {
  Generated program;
  Disagreement disagreement;
  Outputs expected;  // by the interpreter
  uint32_t subgroup_size = 32;
  reduce::Outcome outcome;
  bool out_of_time = false;
};

/// An error if the pair does not disagree about `g` (judge()).
Result<ReducedMismatch> reduce_mismatch(const Generated& g, const ConfigurationPair& pair,
                                        const ReduceOptions& options);

/// The program as a file of mode `run`, with its inputs and the interpreter's results.
std::string text_test(const ReducedMismatch& reduced);

}  // namespace vyre::lab
