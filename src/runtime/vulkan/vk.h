#pragma once

// Vulkan's functions as volk's pointers: nothing is linked, libvulkan.so.1 is opened by
// vulkan_instance.cc.

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string_view>

namespace vyre::driver::vulkan {

/// "VK_ERROR_DEVICE_LOST".
std::string_view name(VkResult result);

/// A Vulkan structure with its type set and everything else zero.
template <class T>
T made(VkStructureType type) {
  T t{};
  t.sType = type;
  return t;
}

/// Inserts `next` into the chain directly after `head`.
template <class Head, class Next>
void chain(Head& head, Next& next) {
  next.pNext = const_cast<void*>(static_cast<const void*>(head.pNext));
  head.pNext = &next;
}

}  // namespace vyre::driver::vulkan
