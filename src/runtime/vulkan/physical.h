#pragma once

// The devices that the drivers offer: what each has, in what order vyre numbers them, and why some
// are not used. Nothing is opened here.

#include <array>
#include <string>
#include <vector>

#include "legalize/profile.h"
#include "runtime/vulkan/vulkan_instance.h"

namespace vyre::driver::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string why_not;  // vyre cannot use it; "" if it can

  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::string driver;  // "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
  std::array<uint8_t, VK_UUID_SIZE> device_uuid{}, driver_uuid{};
  uint64_t most_allocation_bytes = 0;
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;

  /// What it says that it has. The self-test may find less.
  emit_exact::Profile reported;
  uint32_t least_subgroup = 0, most_subgroup = 0;
  bool subgroup_size_control = false;  // pipelines may ask for a size
  bool full_subgroups = false;         // and for subgroups without holes
  /// Ifs inside each other, or loops: deeper ones its compiler gets wrong.
  uint32_t most_nested = ~uint32_t{0};
  bool uniform_control_flow = false;  // VK_KHR_shader_subgroup_uniform_control_flow

  bool is_cpu() const { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  uint64_t device_local_bytes() const;  // of the largest heap
};

/// In the order of their numbers: those that can be used by kind (discrete, integrated, virtual,
/// cpu, other), then the others.
std::vector<PhysicalDevice> physical_devices(const Instance& instance);

/// Everything of it that vyre may use is enabled.
VkResult create_device(const PhysicalDevice& physical, VkDevice* device);

}  // namespace vyre::driver::vulkan
