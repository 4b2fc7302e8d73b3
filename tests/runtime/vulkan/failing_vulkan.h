#pragma once

// The Vulkan backend with functions of the driver that fail when a test wants it.

#include "runtime/vulkan/vulkan_backend.h"
#include "runtime/vulkan/vulkan_device.h"
#include "tests/runtime/vulkan/vulkan_util.h"

namespace vyre::driver {

/// Calls of one function of the driver, counted; after `allowed` of them every one fails.
struct Failure {
  VkResult result = VK_SUCCESS;
  int allowed = 1 << 30;
  int calls = 0;
  bool fails() { return calls++ >= allowed; }
};

/// The functions that can be made to fail.
enum class Function : uint8_t {
  AllocateMemory,
  CreateBuffer,
  MapMemory,
  CreateCommandPool,
  AllocateCommandBuffers,
  ResetCommandPool,
  BeginCommandBuffer,
  EndCommandBuffer,
  CreateQueryPool,
  CreateSemaphore,
  CreatePipelineCache,
  CreateShaderModule,
  CreateComputePipelines,
  QueueSubmit,
  WaitSemaphores,
  Count
};
std::string_view name(Function f);

/// Only one at a time: the functions of a driver have no place for an object.
class FailingVulkan : public Backend {
 public:
  FailingVulkan();
  ~FailingVulkan() override;
  std::string_view name() const override { return "failing"; }
  std::string_view summary() const override { return "Vulkan that fails"; }
  std::vector<DeviceInfo> probe(std::string* why_none) override;
  Result<std::unique_ptr<BackendDevice>> open(uint32_t index) override;

  /// From now on the function fails after so many more calls.
  void fail(Function f, VkResult result, int allowed = 0);
  void heal();
  int calls(Function f) const;
  Device device(const OpenOptions& options = {});

  /// Changes the device that is opened next.
  std::function<void(vulkan::VulkanDevice&)> change;
  /// Changes the code that its driver gets: SPIR-V, of the length that it has.
  std::function<void(std::vector<uint32_t>&)> change_code;
};

}  // namespace vyre::driver
