#pragma once

// Every GPU with a Vulkan 1.2 driver. The loader, libvulkan.so.1, is opened at the first use of the
// backend.

#include <string>

#include "runtime/backend.h"

namespace vyre::driver {

/// Returns the backend; or null, and in `why` the reason, to follow "because".
Backend* vulkan_backend(std::string* why);

}  // namespace vyre::driver
