#pragma once

// The self-test of waiting and stopping. Every kernel ends after a bounded number of polls or
// iterations, so a device without progress, or one that never sees the stop flag, delays the test
// only briefly.

#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

/// Records which invocations make progress while others wait. The device's profile is that of
/// `tested`.
Result<> test_progress(VulkanDevice& device, TestedProfile& tested);

/// Records how long after its deadline a launch ends, and tests whether the device is usable then.
Result<> test_stop_word(VulkanDevice& device, TestedProfile& tested);

}  // namespace vyre::driver::vulkan
