#pragma once

// The optimizer's report: the decision and reason for every pass, and the outcome of every run of a
// pass. Written to profile files, for the next compile. `vyre run --report` and `vyre opt
// --time-passes` show it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diagnostics/listing.h"
#include "opt/analysis/cost.h"

namespace vyre::opt {

enum class PassDecision : uint8_t { NotDirty, NothingToDo, Unchanged, Changed, Refused };
std::string_view name(PassDecision decision);

/// One run of a pass.
struct PassRun {
  uint32_t iteration = 0;
  std::string pass;
  PassDecision decision = PassDecision::Unchanged;
  std::vector<std::string> refusals;  // "file:line: why"
  uint64_t refused = 0;               // all of them
  std::vector<std::string> effects_before,
      effects_after;  // "reads x", "writes y", "barrier workgroup"
  uint32_t facts_reused = 0, facts_recomputed = 0, facts_invalidated = 0;
  uint64_t ns = 0;
  Cost before, after;
  /// The program after it, if it changed and ScheduleOptions::keep_texts; not in profile files.
  std::shared_ptr<const Listing> text;
};

/// The decision of selection for a pass.
struct PassChoice {
  std::string pass;
  bool selected = false;
  std::string reason;
  uint32_t priority = 0;
  std::string detail;
};

struct RunReport {
  std::string program;  // the kernel
  std::string op_id;
  std::string profile;
  std::vector<PassChoice> choices;
  std::vector<PassRun> runs;
  uint32_t iterations = 0;
  bool settled = true;  // the last iteration changed nothing
  uint64_t ns = 0;
  Cost before, after;
  std::shared_ptr<const Listing> text;  // the program before all of them, as PassRun::text

  /// The largest reduction that the pass brought in one of its runs that changed something.
  uint64_t reduction_by(std::string_view pass) const;
};

}  // namespace vyre::opt
