#pragma once

// Every GPU with a Vulkan 1.2 driver. The loader, libvulkan.so.1, is opened when somebody asks for
// it.

#include <string>

#include "runtime/backend.h"

namespace vyre::driver {

/// The backend, or null and why there is none, to follow "because".
Backend* vulkan_backend(std::string* why);

}  // namespace vyre::driver
