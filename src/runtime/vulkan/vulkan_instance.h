#pragma once

// The loader and the instance, one per process: created when Vulkan is first used.

#include <string>
#include <vector>

#include "runtime/vulkan/vk.h"

namespace vyre::driver::vulkan {

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  uint32_t api_version = 0;
  bool validation = false;  // VYRE_VULKAN_VALIDATION=1, and the layer is available
};

/// Returns the instance; or null, and in `why` the reason, to follow "because". VYRE_VULKAN_LIBRARY
/// names another loader, or a driver itself. Returns the same answer every time.
const Instance* instance(std::string* why);

/// Returns the messages of the validation layers since the last call.
std::vector<std::string> take_validation_messages();

}  // namespace vyre::driver::vulkan
