#include "runtime/vulkan/vulkan_instance.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace vyre::driver::vulkan {
namespace {

constexpr const char* loader = "libvulkan.so.1";
constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

struct Messages {
  std::mutex mutex;
  std::vector<std::string> texts;  // guarded
};

Messages& messages() {
  static auto& all = *new Messages();  // the layers may report messages while the process ends
  return all;
}

VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                    VkDebugUtilsMessageTypeFlagsEXT,
                                    const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  Messages& m = messages();
  const std::lock_guard lock(m.mutex);
  if (m.texts.size() < 100) m.texts.emplace_back(data->pMessage ? data->pMessage : "");
  return VK_FALSE;
}

/// Returns the function that gives all others; or null, and why.
PFN_vkGetInstanceProcAddr open_library(std::string* why) {
  const char* named = std::getenv("VYRE_VULKAN_LIBRARY");
  const std::string path = named && *named ? named : loader;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* error = dlerror();
    *why = fmt::format("the Vulkan loader cannot be opened ({})", error ? error : path);
    return nullptr;
  }
  // A driver exports the second one: without a loader its devices are the only ones.
  if (void* const negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion")) {
    uint32_t version = 5;
    reinterpret_cast<VkResult (*)(uint32_t*)>(negotiate)(&version);
  }
  for (const char* symbol : {"vkGetInstanceProcAddr", "vk_icdGetInstanceProcAddr"})
    if (void* const found = dlsym(library, symbol))
      return reinterpret_cast<PFN_vkGetInstanceProcAddr>(found);
  *why = fmt::format("{} is no Vulkan loader", path);
  return nullptr;
}

bool has_validation_layer() {
  uint32_t n = 0;
  if (!vkEnumerateInstanceLayerProperties) return false;
  vkEnumerateInstanceLayerProperties(&n, nullptr);
  std::vector<VkLayerProperties> layers(n);
  vkEnumerateInstanceLayerProperties(&n, layers.data());
  for (const VkLayerProperties& l : layers)
    if (std::strcmp(l.layerName, validation_layer) == 0) return true;
  return false;
}

Instance create(std::string* why) {
  Instance made_instance;
  const PFN_vkGetInstanceProcAddr get = open_library(why);
  if (!get) return made_instance;
  volkInitializeCustom(get);
  if (vkEnumerateInstanceVersion) vkEnumerateInstanceVersion(&made_instance.api_version);
  if (made_instance.api_version < VK_API_VERSION_1_2) {
    *why = "the Vulkan loader is older than Vulkan 1.2";
    return made_instance;
  }
  auto app = made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  app.pApplicationName = app.pEngineName = "vyre";
  app.apiVersion = VK_API_VERSION_1_3;
  auto info = made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &app;

  const char* asked = std::getenv("VYRE_VULKAN_VALIDATION");
  made_instance.validation = asked && std::strcmp(asked, "1") == 0 && has_validation_layer();
  auto messenger = made<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = &hear;
  const char* const layers[] = {validation_layer};
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  if (made_instance.validation) {
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = layers;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = extensions;
  }
  if (const VkResult r = vkCreateInstance(&info, nullptr, &made_instance.handle); r != VK_SUCCESS) {
    made_instance.handle = VK_NULL_HANDLE;
    *why = r == VK_ERROR_INCOMPATIBLE_DRIVER
               ? "the Vulkan loader found no driver"
               : fmt::format("no Vulkan instance can be made ({})", name(r));
    return made_instance;
  }
  volkLoadInstanceOnly(made_instance.handle);
  if (made_instance.validation) {
    VkDebugUtilsMessengerEXT unused = VK_NULL_HANDLE;
    vkCreateDebugUtilsMessengerEXT(made_instance.handle, &messenger, nullptr, &unused);
  }
  return made_instance;
}

}  // namespace

const Instance* instance(std::string* why) {
  // Never destroyed: drivers have their own threads and exit handlers.
  struct Once {
    std::string why;
    Instance instance = create(&why);
  };
  static const Once& once = *new Once();
  if (once.instance.handle) return &once.instance;
  if (why) *why = once.why;
  return nullptr;
}

std::vector<std::string> take_validation_messages() {
  Messages& m = messages();
  const std::lock_guard lock(m.mutex);
  return std::exchange(m.texts, {});
}

std::string_view name(VkResult result) {
  switch (result) {
#define VYRE_RESULT(r) \
  case r: return #r;
    VYRE_RESULT(VK_SUCCESS)
    VYRE_RESULT(VK_NOT_READY)
    VYRE_RESULT(VK_TIMEOUT)
    VYRE_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    VYRE_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    VYRE_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    VYRE_RESULT(VK_ERROR_DEVICE_LOST)
    VYRE_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    VYRE_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    VYRE_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    VYRE_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    VYRE_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    VYRE_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    VYRE_RESULT(VK_ERROR_FRAGMENTATION)
    VYRE_RESULT(VK_ERROR_INVALID_SHADER_NV)
    VYRE_RESULT(VK_ERROR_UNKNOWN)
#undef VYRE_RESULT
    default: return "an unknown result";
  }
}

}  // namespace vyre::driver::vulkan
