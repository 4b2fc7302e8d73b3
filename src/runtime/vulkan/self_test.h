#pragma once

// Does the device compute as the specification says? Kernels made by the real emitter, with its
// modes, decorations and operand forms, run over subnormals, zeros, infinities, NaN and random
// numbers, and are compared with the evaluator that the interpreter uses. What fails is switched
// off in the profile, so that it is expanded; then everything is tried again as it is expanded.
// What is wrong even then is refused (V0735). Last comes what programs and time limits rest on: who
// goes on while others wait, and whether a launch can be stopped (self_test_progress.h).

#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

/// About a second. An error only if the device itself fails.
Result<TestedProfile> self_test(VulkanDevice& device);

/// From `directory` or this process, or tested now and kept.
Result<TestedProfile> tested_profile(VulkanDevice& device, const std::string& directory);

}  // namespace vyre::driver::vulkan
