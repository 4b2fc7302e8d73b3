#pragma once

// The physical devices of the installed drivers: their properties, the order in which vyre numbers
// them, and why some are not used. Nothing is opened here.

#include <array>
#include <string>
#include <vector>

#include "legalize/profile.h"
#include "runtime/vulkan/vulkan_instance.h"

namespace vyre::driver::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string why_not;  // why vyre cannot use it; "" if it can

  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::string driver;  // "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
  std::array<uint8_t, VK_UUID_SIZE> device_uuid{}, driver_uuid{};
  uint64_t most_allocation_bytes = 0;
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;

  /// The capabilities that the device reports. The self-test may find fewer.
  emit_exact::Profile reported;
  uint32_t least_subgroup = 0, most_subgroup = 0;
  bool subgroup_size_control = false;  // pipelines may ask for a size
  bool full_subgroups = false;         // pipelines may ask for full subgroups
  /// The nesting of ifs or loops that its compiler handles; it gets deeper nesting wrong.
  uint32_t most_nested = ~uint32_t{0};
  bool uniform_control_flow = false;  // VK_KHR_shader_subgroup_uniform_control_flow

  bool is_cpu() const { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  uint64_t device_local_bytes() const;  // of the largest heap
};

/// Returns the devices in the order of their numbers: usable ones by kind (discrete, integrated,
/// virtual, cpu, other), then the others.
std::vector<PhysicalDevice> physical_devices(const Instance& instance);

/// Creates the device with all features that vyre may use.
VkResult create_device(const PhysicalDevice& physical, VkDevice* device);

}  // namespace vyre::driver::vulkan
