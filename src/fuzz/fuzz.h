#pragma once

// Generates programs and compares configurations, seed after seed, until the count or the time is
// used up or the caller stops it.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "diagnostics/result.h"
#include "differential/differential.h"
#include "fuzz/coverage.h"

namespace vyre::lab {

struct Finding {
  uint64_t seed = 0;
  std::string subject;
  Diagnostic what;
  std::string file;          // the replay file; "" if none was wanted or it could not be written
  std::string reduced;       // the reduced program as a text test; "" if there is none
  uint64_t reduced_ops = 0;  // its ops
};

struct FuzzStatus {
  uint64_t seed = 0;  // the next, or the current one
  uint64_t programs = 0;
  uint64_t runs = 0;     // of subjects
  uint64_t refused = 0;  // of these runs: a device refused the program
  uint64_t failing = 0;  // programs with a mismatch
  double seconds = 0;
};

struct FuzzOptions {
  uint64_t seed = 0;                  // the first; later ones increase by one
  uint64_t count = 0;                 // number of programs; 0: limited by time only
  uint64_t inputs = 1;                // for each kernel: its own, then others (other_inputs)
  double seconds = 0;                 // 0: no limit
  std::vector<std::string> subjects;  // groups, names or devices (device_spec.h); empty: all
  std::vector<Subject> more;          // in addition to all_subjects
  std::string out;  // folder for failing programs, with a count of 1 for every one; "": none
  double reduce_seconds = 0;  // per mismatch; 0: no reduction
  std::string reduced = ".";  // folder for reduced programs
  GenerateOptions generate;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const FuzzStatus&)> progress;  // before each program
  std::function<void(const Finding&)> found;        // as soon as it is known
};

struct FuzzSummary {
  FuzzStatus status;
  std::vector<Finding> findings;  // one per failing configuration
  Diagnostics file_errors;        // replay files that could not be written
  Coverage coverage;
  bool stopped = false;
};

/// Returns an error only if the options are wrong: findings are not errors of the call.
Result<FuzzSummary> fuzz(const FuzzOptions& options);

}  // namespace vyre::lab
