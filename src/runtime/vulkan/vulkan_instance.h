#pragma once

// The loader and the instance, one for the process: made when somebody first asks for Vulkan.

#include <string>
#include <vector>

#include "runtime/vulkan/vk.h"

namespace vyre::driver::vulkan {

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  uint32_t api_version = 0;
  bool validation = false;  // VYRE_VULKAN_VALIDATION=1, and the layer is there
};

/// The instance, or null and why there is none, to follow "because". VYRE_VULKAN_LIBRARY names
/// another loader, or a driver itself. The same answer every time.
const Instance* instance(std::string* why);

/// What the validation layers said since somebody asked last.
std::vector<std::string> take_validation_messages();

}  // namespace vyre::driver::vulkan
