#pragma once

// Decides whether and how two configurations disagree, and whether the specification defines
// the results that they disagree about.

#include <optional>
#include <string>

#include "differential/differential.h"

namespace vyre::lab {

/// Two ways to run a program that must agree.
struct ConfigurationPair {
  Subject first;  // the reference, if its name is `interp`
  Subject second;
};

/// The interpreter in order, as a configuration called `interp`.
Subject reference_subject();

/// A disagreement of two configurations about a program.
struct Disagreement {
  /// The kind: other bytes, a trap on one side, or an error with its code. A reduction preserves
  /// it.
  std::string kind;
  Diagnostic what;        // for messages
  uint64_t lane_ops = 0;  // of the reference
};

/// Returns the disagreement if the pair disagrees and the results are defined: the checker and the
/// sanitizer find nothing, and the interpreter gives the same in every order. Otherwise an error:
/// V0626 the two agree, V0627 the results are not defined, or an error of the program or launch.
/// With `wanted`, a disagreement of another kind is V0626, found without running the sanitizer.
Result<Disagreement> judge(const ConfigurationPair& pair, const Generated& g,
                           const Disagreement* wanted = nullptr);

/// The sanitizer's finding that makes results unspecified: a race, or a result that depends on the
/// order. Errors of the run other than traps count, too.
std::optional<Diagnostic> unspecified_result(const Generated& g, uint32_t subgroup_size = 32);

/// The pair for two names of `vyre fuzz --backends` ("A,B"; "B" alone is compared with the
/// interpreter). `interp` is the reference. For groups, the first two members that disagree about
/// `g`, or if none do the first two.
Result<ConfigurationPair> choose_pair(const std::string& names, const Generated& g);

}  // namespace vyre::lab
