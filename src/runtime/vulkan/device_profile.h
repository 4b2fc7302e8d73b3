#pragma once

// What a device computes right: found by the self-test when it is first opened, and kept in the
// folder of the compile cache for this device, its driver and this vyre.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "runtime/vulkan/physical.h"

namespace vyre::driver::vulkan {

struct TestedProfile {
  emit_exact::Profile profile;
  /// Ops that are wrong in the most careful form too (V0735), by op_key(), and what was found.
  std::map<std::string, std::string> inexact;
  std::vector<std::string> findings;  // for people: "fma32: fma(…) gave …, not …"
  /// Workgroups that have begun go on while others wait for them.
  bool workgroups_go_on = false;
  /// So do lanes of one subgroup. For people: the specification promises nothing of the kind.
  bool lanes_go_on = false;
  /// How long after its deadline a launch ended. Nothing: the device does not see the stop word.
  std::optional<uint64_t> stop_ns;
  uint64_t test_ns = 0;  // how long the test took

  /// What `requires(forward_progress)` asks for. Where loops are cut, so is a wait that takes long.
  bool forward_progress() const { return workgroups_go_on && profile.long_loops; }
  bool operator==(const TestedProfile&) const = default;
};

/// "div f32", "cast f32 u64": what V0735 is about.
std::string op_key(const Program& program, OpId op);

/// As kept in `directory` for just this device, driver and vyre; nothing if it is not there or
/// damaged. "" is no folder.
std::optional<TestedProfile> find_profile(const std::string& directory,
                                          const PhysicalDevice& device);
/// A folder that cannot be written to is no error.
void keep_profile(const std::string& directory, const PhysicalDevice& device,
                  const TestedProfile& tested);

/// `base` changed by the words of `text` (legalize/profile.h). An error for words that name
/// nothing, and for what the device does not have: using it could end the process.
Result<emit_exact::Profile> force_profile(std::string_view text, const emit_exact::Profile& base,
                                          const PhysicalDevice& device);

}  // namespace vyre::driver::vulkan
