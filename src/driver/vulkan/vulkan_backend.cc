#include "driver/vulkan/vulkan_backend.h"
namespace vyre::driver {
Backend* vulkan_backend(std::string* why) {
  *why = "this build has no such backend";
  return nullptr;
}
}  // namespace vyre::driver
