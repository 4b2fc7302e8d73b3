#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

VolkDeviceTable real;
std::array<Failure, size_t(Function::Count)> failures;

Failure& of(Function f) { return failures[size_t(f)]; }

/// The real function, or the failure.
template <Function f, auto member, class... Arguments>
VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
  if (of(f).fails()) return of(f).result;
  return (real.*member)(arguments...);
}

std::function<void(std::vector<uint32_t>&)> code_change;

VKAPI_ATTR VkResult VKAPI_CALL create_changed_module(VkDevice d,
                                                     const VkShaderModuleCreateInfo* info,
                                                     const VkAllocationCallbacks* a,
                                                     VkShaderModule* m) {
  std::vector<uint32_t> words(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  if (code_change) code_change(words);
  VkShaderModuleCreateInfo changed = *info;
  changed.pCode = words.data();
  return call<Function::CreateShaderModule, &VolkDeviceTable::vkCreateShaderModule>(
      d, static_cast<const VkShaderModuleCreateInfo*>(&changed), a, m);
}

template <Function f, auto member, class... Arguments>
void replace(VolkDeviceTable& table, VkResult(VKAPI_PTR*)(Arguments...)) {
  table.*member = &call<f, member, Arguments...>;
}

}  // namespace

// X(name)
// clang-format off
#define VYRE_FUNCTIONS(X)                                                                  \
  X(AllocateMemory)                                                                        \
  X(CreateBuffer)                                                                          \
  X(MapMemory)                                                                             \
  X(CreateCommandPool) X(AllocateCommandBuffers) X(ResetCommandPool) X(BeginCommandBuffer) \
      X(EndCommandBuffer) X(CreateQueryPool) X(CreateSemaphore) X(CreatePipelineCache)     \
          X(CreateShaderModule) X(CreateComputePipelines) X(QueueSubmit) X(WaitSemaphores)
// clang-format on

std::string_view name(Function f) {
  switch (f) {
#define VYRE_ONE(f) \
  case Function::f: return "vk" #f;
    VYRE_FUNCTIONS(VYRE_ONE)
#undef VYRE_ONE
    case Function::Count: break;
  }
  return "";
}

FailingVulkan::FailingVulkan() { failures = {}; }
FailingVulkan::~FailingVulkan() {
  heal();
  code_change = nullptr;
}

std::vector<DeviceInfo> FailingVulkan::probe(std::string* why_none) {
  std::vector<DeviceInfo> all = vulkan_backend(why_none)->probe(why_none);
  for (DeviceInfo& d : all) d.backend = "failing";
  return all;
}

Result<std::unique_ptr<BackendDevice>> FailingVulkan::open(uint32_t index) {
  std::string why;
  Result<std::unique_ptr<BackendDevice>> opened = vulkan_backend(&why)->open(index);
  if (!opened) return opened;
  auto& device = static_cast<vulkan::VulkanDevice&>(**opened);
  VolkDeviceTable& table = device.context().vk;
  real = table;
#define VYRE_ONE(f) replace<Function::f, &VolkDeviceTable::vk##f>(table, real.vk##f);
  VYRE_FUNCTIONS(VYRE_ONE)
#undef VYRE_ONE
  table.vkCreateShaderModule = &create_changed_module;
  code_change = change_code;
  if (change) change(device);
  return opened;
}

void FailingVulkan::fail(Function f, VkResult result, int allowed) { of(f) = {result, allowed, 0}; }
void FailingVulkan::heal() { failures = {}; }
int FailingVulkan::calls(Function f) const { return of(f).calls; }

Device FailingVulkan::device(const OpenOptions& options) {
  Result<Device> d = Device::open(*this, 0, options);
  EXPECT_TRUE(d) << render(d.errors(), {});
  return *d;
}

}  // namespace vyre::driver
