#pragma once

// Runs passes in the order of phases and requirements, repeatedly until nothing changes.

#include <functional>
#include <span>
#include <vector>

#include "opt/opt_report.h"
#include "opt/pass.h"

namespace vyre::opt {

/// Sorts passes by phase, and within a phase after those that they require, else as passed. Returns
/// an error that names the passes for a repeated name, a requirement that is not in the list, and a
/// cycle of requirements. If a pass requires one of a later phase, it moves after that one.
Result<std::vector<const PassDescriptor*>> order_passes(
    std::span<const PassDescriptor* const> passes);

struct ScheduleOptions {
  /// Limit of iterations over the list. An iteration in which nothing changes is the last.
  uint32_t most_iterations = 8;
  /// After every pass: the program is legal, "unchanged" is true, no effect was added that the pass
  /// does not declare. On in debug builds and tests.
#ifdef NDEBUG
  bool check = false;
#else
  bool check = true;
#endif
  /// Write the program that a pass broke, in its state before the pass, to a file.
  bool dump = true;
  /// The folder of that file; "": the folder for temporary files.
  std::string dump_folder;
  /// Runs of passes after which to stop; for `vyre opt --stop-after` and bisection.
  uint64_t stop_after = ~uint64_t{0};
  /// Called before every run of a pass, and by passes within their loops
  /// (diagnostics/work_deadline.h); true ends the iterations. A pass that has begun is undone. May
  /// be empty.
  std::function<bool()> is_over;
  /// Keep the program as text after every run that changed it, up to so many lines in all.
  bool keep_texts = false;
  static constexpr size_t most_kept_lines = 200'000;
  /// Called after every run of a pass with the program as it is then.
  std::function<void(const Program& program, const PassRun& run)> after_pass;
};

/// Runs the passes in this order. Fills runs, iterations, settled, times and costs of the report.
/// If a pass fails, the program is in its state before that pass.
Result<> run_passes(Program& program, std::span<const PassDescriptor* const> passes,
                    const Target& target, const ScheduleOptions& options, RunReport& report);

}  // namespace vyre::opt
