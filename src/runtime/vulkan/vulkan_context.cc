#include "runtime/vulkan/vulkan_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace vyre::driver::vulkan {
namespace {

template <class F>
struct Dead;
template <class R, class... A>
struct Dead<R(VKAPI_PTR*)(A...)> {
  static VKAPI_ATTR R VKAPI_CALL call(A...) {
    if constexpr (std::is_same_v<R, VkResult>) return VK_ERROR_DEVICE_LOST;
  }
};

struct OpenContexts {
  std::mutex mutex;
  std::vector<Context*> all;               // guarded
  std::vector<VkPhysicalDevice> followed;  // guarded; their drivers' exit handlers run after ours
};

OpenContexts& open_contexts() {
  static auto& contexts = *new OpenContexts();  // outlives everything
  return contexts;
}

}  // namespace

/// A driver closes itself when the process ends, by an exit handler that runs before the
/// destructors of older objects. A Device among these would call destroyed functions. So devices
/// that are open by then are marked lost, and the functions that close them do nothing.
void Context::forget_all() {
  OpenContexts& open = open_contexts();
  const std::lock_guard lock(open.mutex);
  for (Context* c : open.all) {
    c->lost_ = true;
#define VYRE_KILL(function) c->vk.function = Dead<decltype(c->vk.function)>::call;
    VYRE_KILL(vkDeviceWaitIdle)
    VYRE_KILL(vkWaitSemaphores)
    VYRE_KILL(vkGetSemaphoreCounterValue)
    VYRE_KILL(vkQueueSubmit)
    VYRE_KILL(vkGetQueryPoolResults)
    VYRE_KILL(vkGetPipelineCacheData)
    VYRE_KILL(vkResetCommandPool)
    VYRE_KILL(vkFreeMemory)
    VYRE_KILL(vkDestroyBuffer)
    VYRE_KILL(vkDestroyCommandPool)
    VYRE_KILL(vkDestroyPipeline)
    VYRE_KILL(vkDestroyPipelineCache)
    VYRE_KILL(vkDestroyPipelineLayout)
    VYRE_KILL(vkDestroyQueryPool)
    VYRE_KILL(vkDestroySemaphore)
    VYRE_KILL(vkDestroyShaderModule)
    VYRE_KILL(vkDestroyDevice)
#undef VYRE_KILL
  }
}

Result<std::shared_ptr<Context>> Context::open(const PhysicalDevice& physical, bool validation) {
  std::shared_ptr<Context> c(new Context(physical, validation));
  if (const VkResult r = create_device(physical, &c->device); r != VK_SUCCESS) {
    c->device = VK_NULL_HANDLE;
    return diagnose(
               Code::DeviceFailed, {},
               fmt::format("{} cannot be opened ({})", physical.properties.deviceName, name(r)))
        .with_fix("look at `vyre devices -v`, or use another device");
  }
  volkLoadDeviceTable(&c->vk, c->device);
  {
    OpenContexts& open = open_contexts();
    const std::lock_guard lock(open.mutex);
    open.all.push_back(c.get());
    const bool is_new = std::find(open.followed.begin(), open.followed.end(), physical.handle) ==
                        open.followed.end();
    if (is_new && std::atexit(&Context::forget_all) == 0) open.followed.push_back(physical.handle);
  }
  c->vk.vkGetDeviceQueue(c->device, physical.queue_family, 0, &c->queue);
  VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            uint32_t(physical.reported.push_constant_bytes)};
  auto info = made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  if (const VkResult r = c->vk.vkCreatePipelineLayout(c->device, &info, nullptr, &c->layout);
      r != VK_SUCCESS)
    return c->failure(r, "making a pipeline layout");
  return c;
}

Context::~Context() {
  if (!device) return;
  {
    const std::lock_guard lock(open_contexts().mutex);
    std::erase(open_contexts().all, this);
  }
  wait_idle();
  vk.vkDestroyPipelineLayout(device, layout, nullptr);
  vk.vkDestroyDevice(device, nullptr);
}

void Context::wait_idle() {
  const std::lock_guard lock(queue_mutex);
  (void)vk.vkDeviceWaitIdle(device);
}

Diagnostic Context::lost_diagnostic(std::string_view doing) const {
  return diagnose(Code::DeviceLost, {},
                  fmt::format("{} was lost ({})", physical.properties.deviceName, doing))
      .with_fix("open the device again, or use another one");
}

Diagnostic Context::failure(VkResult result, std::string_view doing) {
  if (result == VK_ERROR_DEVICE_LOST) {
    lost_ = true;
    return lost_diagnostic(doing);
  }
  return diagnose(
             Code::DeviceFailed, {},
             fmt::format("{} failed: {} ({})", physical.properties.deviceName, doing, name(result)))
      .with_fix("run it again, or use another device");
}

std::optional<Diagnostic> Context::complaint() const {
  if (!validation) return std::nullopt;
  const std::vector<std::string> all = take_validation_messages();
  if (all.empty()) return std::nullopt;
  Diagnostic d = diagnose(Code::DeviceFailed, {},
                          fmt::format("the validation layers found {} mistake{} of vyre",
                                      all.size(), all.size() == 1 ? "" : "s"));
  for (const std::string& m : all) d.note(m);
  return d.with_fix("report it with the program");
}

}  // namespace vyre::driver::vulkan
