#pragma once

// The self-test of waiting and stopping. Every kernel ends by itself, after so many looks or
// rounds: a device on which nobody goes on, or that never sees the stop word, holds nothing up for
// long.

#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

/// Fills in who goes on while others wait. The device's profile is that of `tested`.
Result<> test_progress(VulkanDevice& device, TestedProfile& tested);

/// Fills in how long after its deadline a launch ends, and tries whether the device is usable then.
Result<> test_stop_word(VulkanDevice& device, TestedProfile& tested);

}  // namespace vyre::driver::vulkan
