#pragma once

// Reduces a program while a test holds: delta debugging over the transformations of transform.h.
//
// Each transformation is tried on all of its opportunities at once, then on halves, quarters and so
// on down to single ones; candidates that the test accepts are kept. This repeats until no
// transformation makes the program smaller. The result depends only on the program and the test,
// unless the search is stopped.

#include <functional>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"
#include "reduce/candidate.h"

namespace vyre::reduce {

/// The progress of a reduction.
struct Progress {
  uint64_t round = 0;  // from 1
  std::string_view transform;
  uint64_t candidates = 0;  // passed to the test
  uint64_t accepted = 0;
  uint64_t ops_before = 0;
  uint64_t ops = 0;  // of the smallest program so far
};

struct Options {
  /// Returns whether the candidate still reproduces the failure. Called with candidates that pass
  /// the checker.
  std::function<bool(const Candidate&)> is_interesting;
  /// Called before each candidate; true ends the search with the best so far. May be empty.
  std::function<bool()> should_stop;
  /// Called before each candidate. May be empty.
  std::function<void(const Progress&)> progress;
  /// Also accept candidates that the checker refuses: for programs that it refuses.
  bool illegal_too = false;
};

struct TransformCount {
  std::string_view name;
  uint64_t tried = 0, accepted = 0;
};

struct Outcome {
  Candidate best;
  Progress progress;
  bool stopped = false;  // by should_stop
  std::vector<TransformCount> transforms;
};

/// `original` passes the test and, unless illegal_too, the checker.
Outcome reduce(const Candidate& original, const Options& options);

}  // namespace vyre::reduce
