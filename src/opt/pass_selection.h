#pragma once

// Pass selection: which passes run on a program, and why, as one decision for each pass, in the
// order passed. A decision affects compile time and speed, never correctness.
//
// The optimizer profile decides first, and a pass that it rejects never runs, not even for another
// pass. Any other pass is selected by the first of these that holds:
//
//   hot_path_telemetry  500  the program's op_id was measured as hot on the target's device
//   pass_cost_report    400  an earlier report shows that this pass changed the program and reduced
//                            one of its costs
//   program_shape       300  the program is as large as the pass's family asks for
//   always_on           200  the family needs no size
//   required_dependency 100  a selected pass requires it
//
// or it is not: below_threshold 0, profile_rejected 0.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opt/hot_paths.h"
#include "opt/opt_report.h"
#include "opt/pass.h"

namespace vyre::opt {

enum class Profile : uint8_t {
  None,     // nothing
  Debug,    // Scalar passes that keep every source line
  Release,  // passes that keep the host's ABI and whose needs the target meets
  Size      // Release without passes that grow code
};
std::string_view name(Profile profile);
std::optional<Profile> parse_profile(std::string_view name);

enum class Reason : uint8_t {
  HotPathTelemetry,
  PassCostReport,
  ProgramShape,
  AlwaysOn,
  RequiredDependency,
  BelowThreshold,
  ProfileRejected
};
std::string_view name(Reason reason);
uint32_t priority(Reason reason);

struct Decision {
  const PassDescriptor* pass = nullptr;
  bool selected = false;
  Reason reason = Reason::BelowThreshold;
  uint32_t priority = 0;
  std::string detail;  // in words, with the numbers
};

struct SelectionInput {
  std::span<const PassDescriptor* const> passes;
  Profile profile = Profile::Release;
  const Program* program = nullptr;
  Target target;
  const HotPathHints* hints = nullptr;  // null: nothing was measured
  const RunReport* earlier = nullptr;   // null: no report
};

/// Thresholds of program_shape, "at least".
inline constexpr uint64_t loop_ops = 12;
inline constexpr uint64_t memory_bytes = 16 * 1024;
inline constexpr uint64_t fusion_regions = 2;
inline constexpr uint64_t dataflow_ops = 64;
inline constexpr uint64_t megakernel_ops = 512;

std::vector<Decision> select_passes(const SelectionInput& input);

/// True if the profile admits the pass; else `why` states the reason.
bool accepts(Profile profile, const PassDescriptor& pass, const Target& target,
             std::string* why = nullptr);

}  // namespace vyre::opt
