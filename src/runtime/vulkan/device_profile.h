#pragma once

// The capabilities of a device: found by the self-test when the device is first opened, and kept in
// the folder of the compile cache for this device, its driver and this vyre.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "runtime/vulkan/physical.h"

namespace vyre::driver::vulkan {

struct TestedProfile {
  emit_exact::Profile profile;
  /// Ops that are wrong even in their most careful legalization (V0735), by op_key(), and the
  /// finding.
  std::map<std::string, std::string> inexact;
  std::vector<std::string> findings;  // for people: "fma32: fma(…) gave …, not …"
  /// Workgroups that have begun make progress while others wait for them.
  bool workgroups_go_on = false;
  /// The same for lanes of one subgroup. For people: the specification does not guarantee it.
  bool lanes_go_on = false;
  /// How long after its deadline a launch ended. Nothing: the device does not see the stop flag.
  std::optional<uint64_t> stop_ns;
  uint64_t test_ns = 0;  // how long the test took

  /// The condition for `requires(forward_progress)`. A device that cuts loops also cuts long waits.
  bool forward_progress() const { return workgroups_go_on && profile.long_loops; }
  bool operator==(const TestedProfile&) const = default;
};

/// "div f32", "cast f32 u64": the op that V0735 names.
std::string op_key(const Program& program, OpId op);

/// Returns the profile kept in `directory` for exactly this device, driver and vyre; nothing if it
/// is missing or damaged. "" is not a folder.
std::optional<TestedProfile> find_profile(const std::string& directory,
                                          const PhysicalDevice& device);
/// Stores the profile. A folder that cannot be written to is not an error.
void keep_profile(const std::string& directory, const PhysicalDevice& device,
                  const TestedProfile& tested);

/// Returns `base` changed by the words of `text` (legalize/profile.h). Returns an error for unknown
/// words, and for capabilities that the device lacks: using them could end the process.
Result<emit_exact::Profile> force_profile(std::string_view text, const emit_exact::Profile& base,
                                          const PhysicalDevice& device);

}  // namespace vyre::driver::vulkan
