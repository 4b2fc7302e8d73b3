#include "runtime/vulkan/physical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "codegen/spirv/spirv_workarounds.h"

namespace vyre::driver::vulkan {
namespace {

/// All feature structures in one chain, for queries and for device creation.
struct Features {
  VkPhysicalDeviceFeatures2 core =
      made<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features v11 =
      made<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features v12 =
      made<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceSubgroupSizeControlFeatures size_control =
      made<VkPhysicalDeviceSubgroupSizeControlFeatures>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float =
      made<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR uniform_flow =
      made<VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR);
  std::vector<const char*> extensions;  // to enable

  Features() {
    chain(core, v12);
    chain(core, v11);
  }
};

std::optional<emit_spirv::Vendor> vendor_of(VkDriverId driver) {
  switch (driver) {
    case VK_DRIVER_ID_NVIDIA_PROPRIETARY: return emit_spirv::Vendor::Nvidia;
    case VK_DRIVER_ID_MESA_LLVMPIPE: return emit_spirv::Vendor::Lavapipe;
    default: return std::nullopt;
  }
}

bool has(const std::vector<VkExtensionProperties>& all, const char* name) {
  return std::any_of(all.begin(), all.end(), [&](const VkExtensionProperties& e) {
    return std::strcmp(e.extensionName, name) == 0;
  });
}

std::vector<VkExtensionProperties> extensions_of(VkPhysicalDevice d) {
  uint32_t n = 0;
  vkEnumerateDeviceExtensionProperties(d, nullptr, &n, nullptr);
  std::vector<VkExtensionProperties> all(n);
  vkEnumerateDeviceExtensionProperties(d, nullptr, &n, all.data());
  return all;
}

/// Queries the device, which supports at least Vulkan 1.2.
void ask(VkPhysicalDevice d, uint32_t version, Features& f) {
  const auto all = extensions_of(d);
  const auto offer = [&](const char* name, auto& features, uint32_t core_since) {
    const bool core = core_since && version >= core_since;
    if (!core && !has(all, name)) return;
    if (!core) f.extensions.push_back(name);
    chain(f.core, features);
  };
  offer(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, f.size_control, VK_API_VERSION_1_3);
  offer(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, f.atomic_float, 0);
  offer(VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME, f.uniform_flow, 0);
  vkGetPhysicalDeviceFeatures2(d, &f.core);
}

/// Keeps the features that vyre uses and disables the rest: some cost speed when they are enabled.
void keep_what_is_used(Features& f) {
  const auto keep = [](auto& features, auto... members) {
    auto kept = std::remove_reference_t<decltype(features)>{};
    kept.sType = features.sType;
    kept.pNext = features.pNext;
    ((kept.*members = features.*members), ...);
    features = kept;
  };
  using Core = VkPhysicalDeviceFeatures;
  Core core{};
  for (const auto member : {&Core::shaderInt64, &Core::shaderInt16, &Core::shaderFloat64})
    core.*member = f.core.features.*member;
  f.core.features = core;
  using V11 = VkPhysicalDeviceVulkan11Features;
  keep(f.v11, &V11::storageBuffer16BitAccess);
  using V12 = VkPhysicalDeviceVulkan12Features;
  keep(f.v12, &V12::bufferDeviceAddress, &V12::timelineSemaphore, &V12::vulkanMemoryModel,
       &V12::vulkanMemoryModelDeviceScope, &V12::shaderInt8, &V12::storageBuffer8BitAccess,
       &V12::shaderBufferInt64Atomics, &V12::shaderSharedInt64Atomics,
       &V12::shaderSubgroupExtendedTypes);
  using AtomicFloat = VkPhysicalDeviceShaderAtomicFloatFeaturesEXT;
  keep(f.atomic_float, &AtomicFloat::shaderBufferFloat32AtomicAdd,
       &AtomicFloat::shaderSharedFloat32AtomicAdd, &AtomicFloat::shaderBufferFloat32Atomics,
       &AtomicFloat::shaderSharedFloat32Atomics);
}

std::string missing(const Features& f) {
  const std::pair<VkBool32, const char*> needed[] = {
      {f.v12.bufferDeviceAddress, "buffer device addresses"},
      {f.v12.timelineSemaphore, "timeline semaphores"},
      {f.v12.vulkanMemoryModel, "the Vulkan memory model"},
      {f.v12.vulkanMemoryModelDeviceScope, "the device scope of the memory model"}};
  for (const auto& [there, what] : needed)
    if (!there) return fmt::format("it lacks {}", what);
  return "";
}

void read_properties(PhysicalDevice& d, const Features& f) {
  auto p = made<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  auto v11 = made<VkPhysicalDeviceVulkan11Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  auto v12 = made<VkPhysicalDeviceVulkan12Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  auto sizes = made<VkPhysicalDeviceSubgroupSizeControlProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
  auto largest = made<VkPhysicalDeviceMaintenance4Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  chain(p, v11);
  chain(p, v12);
  if (f.size_control.subgroupSizeControl) chain(p, sizes);
  if (d.properties.apiVersion >= VK_API_VERSION_1_3) chain(p, largest);
  vkGetPhysicalDeviceProperties2(d.handle, &p);

  d.driver = fmt::format("{} {}", v12.driverName, v12.driverInfo);
  std::copy_n(v11.deviceUUID, VK_UUID_SIZE, d.device_uuid.begin());
  std::copy_n(v11.driverUUID, VK_UUID_SIZE, d.driver_uuid.begin());
  // maxMemoryAllocationSize is the size that is guaranteed; larger allocations may succeed.
  d.most_allocation_bytes = std::max<uint64_t>(v11.maxMemoryAllocationSize, largest.maxBufferSize);

  d.least_subgroup = d.most_subgroup = v11.subgroupSize;
  d.subgroup_size_control = f.size_control.subgroupSizeControl &&
                            (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
  d.full_subgroups = f.size_control.subgroupSizeControl && f.size_control.computeFullSubgroups;
  if (d.subgroup_size_control) {
    d.least_subgroup = sizes.minSubgroupSize;
    d.most_subgroup = sizes.maxSubgroupSize;
  }
  d.uniform_control_flow = f.uniform_flow.shaderSubgroupUniformControlFlow;

  emit_exact::Profile& r = d.reported;
  const VkPhysicalDeviceFeatures& core = f.core.features;
  r.int64 = core.shaderInt64;
  r.float64 = core.shaderFloat64;
  r.storage8 = f.v12.storageBuffer8BitAccess && f.v12.shaderInt8;
  r.storage16 = f.v11.storageBuffer16BitAccess && core.shaderInt16;
  r.shared_bytes = f.v12.shaderInt8 && core.shaderInt16;
  r.atomics64 = core.shaderInt64 && f.v12.shaderBufferInt64Atomics;
  r.shared_atomics64 = core.shaderInt64 && f.v12.shaderSharedInt64Atomics;
  r.float_atomic_add =
      f.atomic_float.shaderBufferFloat32AtomicAdd && f.atomic_float.shaderSharedFloat32AtomicAdd;
  constexpr VkSubgroupFeatureFlags all =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
      VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  r.subgroup_shuffle = (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                       (v11.subgroupSupportedOperations & all) == all;
  r.subgroup_extended_types = f.v12.shaderSubgroupExtendedTypes && core.shaderInt64;
  r.rte32 = v12.shaderRoundingModeRTEFloat32;
  r.rte64 = v12.shaderRoundingModeRTEFloat64 && core.shaderFloat64;
  r.denorm_preserve32 = v12.shaderDenormPreserveFloat32;
  r.denorm_preserve64 = v12.shaderDenormPreserveFloat64 && core.shaderFloat64;
  r.signed_zero_inf_nan32 = v12.shaderSignedZeroInfNanPreserveFloat32;
  r.signed_zero_inf_nan64 = v12.shaderSignedZeroInfNanPreserveFloat64 && core.shaderFloat64;
  // A float mode for one width alone is not allowed where the device ties the widths together.
  if (v12.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
      r.denorm_preserve32 != r.denorm_preserve64)
    r.denorm_preserve32 = r.denorm_preserve64 = false;
  if (v12.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
      r.rte32 != r.rte64)
    r.rte32 = r.rte64 = false;
  for (const emit_spirv::WorkaroundInfo& w : emit_spirv::all_workarounds())
    if (w.flag && !w.found_by_self_test && w.vendor == vendor_of(v12.driverID)) r.*w.flag = false;
  // Mesa 22.3.6 keeps 80 masks, some of them for itself, and skips the blocks of deeper nesting.
  if (v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) d.most_nested = 64;
  r.subgroup_size = v11.subgroupSize;
  // The size that every recorder can push.
  r.push_constant_bytes = std::min(d.properties.limits.maxPushConstantsSize, 256u);
  const uint32_t* const groups = d.properties.limits.maxComputeWorkGroupCount;
  r.most_workgroups = *std::min_element(groups, groups + 3);
}

bool find_queue(PhysicalDevice& d) {
  uint32_t n = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &n, families.data());
  // The first family that also has graphics is the one that every driver tests most.
  for (const VkQueueFlags wanted : {VkQueueFlags{VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT},
                                    VkQueueFlags{VK_QUEUE_COMPUTE_BIT}})
    for (uint32_t i = 0; i < n; ++i)
      if (families[i].queueCount > 0 && (families[i].queueFlags & wanted) == wanted) {
        d.queue_family = i;
        d.timestamp_bits = families[i].timestampValidBits;
        return true;
      }
  return false;
}

PhysicalDevice describe(VkPhysicalDevice handle) {
  PhysicalDevice d;
  d.handle = handle;
  vkGetPhysicalDeviceProperties(handle, &d.properties);
  vkGetPhysicalDeviceMemoryProperties(handle, &d.memory);
  const uint32_t version = d.properties.apiVersion;
  if (version < VK_API_VERSION_1_2) {
    d.why_not = fmt::format("it has Vulkan {}.{}, and 1.2 is needed", VK_API_VERSION_MAJOR(version),
                            VK_API_VERSION_MINOR(version));
    return d;
  }
  Features f;
  ask(handle, version, f);
  read_properties(d, f);
  d.why_not = missing(f);
  if (d.why_not.empty() && !find_queue(d)) d.why_not = "it has no compute queue";
  return d;
}

int rank(const PhysicalDevice& d) {
  if (!d.why_not.empty()) return 9;
  switch (d.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return 3;
    default: return 4;
  }
}

}  // namespace

uint64_t PhysicalDevice::device_local_bytes() const {
  uint64_t most = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      most = std::max<uint64_t>(most, memory.memoryHeaps[i].size);
  return most;
}

std::vector<PhysicalDevice> physical_devices(const Instance& instance) {
  uint32_t n = 0;
  if (vkEnumeratePhysicalDevices(instance.handle, &n, nullptr) != VK_SUCCESS) return {};
  std::vector<VkPhysicalDevice> handles(n);
  const VkResult r = vkEnumeratePhysicalDevices(instance.handle, &n, handles.data());
  if (r != VK_SUCCESS && r != VK_INCOMPLETE) return {};
  handles.resize(n);
  std::vector<PhysicalDevice> all;
  for (const VkPhysicalDevice h : handles) all.push_back(describe(h));
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return all;
}

VkResult create_device(const PhysicalDevice& d, VkDevice* device) {
  Features f;
  ask(d.handle, d.properties.apiVersion, f);
  keep_what_is_used(f);
  const float priority = 1;
  auto queue = made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = d.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &f.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = uint32_t(f.extensions.size());
  info.ppEnabledExtensionNames = f.extensions.data();
  return vkCreateDevice(d.handle, &info, nullptr, device);
}

}  // namespace vyre::driver::vulkan
