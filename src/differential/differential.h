#pragma once

// Runs a program in several configurations that must all give the same bytes. Every component that
// executes or transforms programs joins with a Subject in the list: backends, passes, plans.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics/result.h"
#include "generate/generate.h"
#include "interp/interp.h"

namespace vyre::lab {

/// The results that the host reads back: bytes by buffer of the kernel or graph, or a trap.
struct Outputs {
  std::vector<std::vector<std::byte>> buffers;
  std::string trap;     // "" or the report: kernel, code, invocation
  std::string refused;  // "" or the code with which a device refuses the program
};

/// A way to run a program.
struct Subject {
  std::string name;  // "group" or "group:variant"
  /// An error is a failure of the subject; a trap is not.
  std::function<Result<Outputs>(const Generated&)> run;
  /// None: it takes every program.
  bool (*applies)(const Generated&) = nullptr;
  /// The subgroup size for programs that fix none: a program that observes its subgroup is compared
  /// with the reference at that size.
  uint32_t subgroup_size = 32;
  /// Runs the programs with seed % turns == turn.
  uint32_t turns = 1, turn = 0;

  std::string group() const { return name.substr(0, name.find(':')); }
};

/// All configurations of this build, with every available device.
std::vector<Subject> all_subjects();

/// The result that the specification defines: the interpreter, in order.
Result<Outputs> reference(const Generated& g, uint32_t subgroup_size = 32);

/// Runs a module with the inputs of `g`, as its kernel or graph.
Result<Outputs> run_interpreter(const Module& module, const Generated& g,
                                const interp::Options& options);

/// "" if both are the same; else the first difference: buffer, element, both values.
std::string difference(const Generated& g, const Outputs& expected, const Outputs& got);

struct Mismatch {
  std::string subject;
  Diagnostic what;
};

struct Verdict {
  std::vector<Mismatch> mismatches;
  std::optional<Outputs>
      expected;          // none: the checker refused the program, or the reference failed
  uint32_t runs = 0;     // of subjects
  uint32_t refused = 0;  // of them: the device cannot take the program
};

/// The subjects with these groups or names; an unknown one is an error.
Result<std::vector<Subject>> choose_subjects(const std::vector<std::string>& names);

/// Checks the program and runs all subjects that apply.
Verdict compare(const Generated& g, const std::vector<Subject>& subjects);

}  // namespace vyre::lab
