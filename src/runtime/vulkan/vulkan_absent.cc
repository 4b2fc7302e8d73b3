// Replaces the rest of this folder where Vulkan's headers were not available at build time.

#include "runtime/vulkan/vulkan_backend.h"

namespace vyre::driver {

Backend* vulkan_backend(std::string* why) {
  *why = "this vyre was built without Vulkan's headers (libvulkan-dev and libvulkan-volk-dev)";
  return nullptr;
}

}  // namespace vyre::driver
