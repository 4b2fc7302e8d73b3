#pragma once

// Tests whether the device computes as the specification says. Kernels from the real emitter, with
// its modes, decorations and operand forms, run over subnormals, zeros, infinities, NaN and random
// numbers. The results are compared with the evaluator that the interpreter uses. A failing op is
// disabled in the profile, so that it is legalized; then everything is tested again in legalized
// form. An op that is wrong even then is refused (V0735). The last tests concern programs that wait
// and time limits: which invocations make progress while others wait, and whether a launch can be
// stopped (self_test_progress.h).

#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

/// Takes about a second. Returns an error only if the device itself fails.
Result<TestedProfile> self_test(VulkanDevice& device);

/// Returns the profile from `directory` or from this process; else tests now and keeps the result.
Result<TestedProfile> tested_profile(VulkanDevice& device, const std::string& directory);

}  // namespace vyre::driver::vulkan
