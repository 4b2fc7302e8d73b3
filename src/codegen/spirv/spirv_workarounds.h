#pragma once

// The table of bugs in vendors' compilers that generated SPIR-V avoids. Each row is a toggle.
//
// A row is a form of code for all devices (Workarounds, a part of EmitOptions), or a capability
// (Profile) that a device has and that is not used where it is wrong. The self-test of a Vulkan
// device finds most wrong capabilities; for the others the table lists the drivers on which they
// are disabled.

#include <cstdint>
#include <span>
#include <string_view>

#include "legalize/profile.h"

namespace vyre::emit_spirv {

/// Forms of code that avoid bugs. All devices get them, because they have no cost.
struct Workarounds {
  bool end_loops_by_last_value = true;
  bool hide_negative_starts = true;
  bool extend_signs_by_field = true;
  bool extend_indices_by_words = true;
};

enum class Vendor : uint8_t { Nvidia, Lavapipe };

struct WorkaroundInfo {
  std::string_view name;  // of the field
  bool Workarounds::* toggle = nullptr;
  bool emit_exact::Profile::* flag = nullptr;  // this or the toggle; false: the bug is avoided
  Vendor vendor = Vendor::Nvidia;
  bool found_by_self_test = false;  // else the flag is false for this vendor
  std::string_view symptom;
  std::string_view test;  // a program that hits the bug, or uses the affected operation
};

std::span<const WorkaroundInfo> all_workarounds();

/// "NVIDIA 580.159.04": the driver that the bugs were seen on.
std::string_view driver_of(Vendor vendor);

}  // namespace vyre::emit_spirv
