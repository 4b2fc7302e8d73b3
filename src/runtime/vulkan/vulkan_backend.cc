#include "runtime/vulkan/vulkan_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "runtime/cache/cache.h"
#include "runtime/vulkan/device_profile.h"
#include "runtime/vulkan/self_test.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver {
namespace vulkan {
namespace {

std::string_view kind_of(const PhysicalDevice& d) {
  switch (d.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return "the CPU";
    default: return "other";
  }
}

/// With fewer invocations, large GPUs idle if each invocation does several units of work. Vulkan
/// does not report the size of a GPU.
constexpr uint64_t coarse_invocations = uint64_t{1} << 19;

constexpr DeviceOption device_options[] = {
    {.name = "functions",
     .type = DeviceOption::Type::Integer,
     .max = 1,
     .sentence = "1: expanded operations become functions; 0: they are inlined."},
    {.name = "profile",
     .type = DeviceOption::Type::Text,
     .values = "capability set, such as -fma32",
     .sentence = "Emulate operations as on a device that lacks them, for tests."},
    {.name = "unroll",
     .type = DeviceOption::Type::Integer,
     .max = 1,
     .sentence = "1: short loops are unrolled; 0: they stay loops."},
};

DeviceInfo info_of(const PhysicalDevice& d, uint32_t index) {
  DeviceInfo i;
  const VkPhysicalDeviceLimits& l = d.properties.limits;
  i.backend = "vulkan";
  i.index = index;
  i.name = d.properties.deviceName;
  i.target = "Vulkan 1.2";
  i.driver_version = fmt::format("{} ({:#x})", d.driver, d.properties.driverVersion);
  i.optimizes = true;
  i.options = device_options;
  i.costs = d.is_cpu() ? "cpu" : "gpu";
  // NVIDIA's driver (580.159, H200) keeps the clocks of idle CUDA contexts, but lowers those of
  // Vulkan devices to 345 of 1,980 MHz, and raises them every 0.2 s according to the load.
  if (!d.is_cpu()) i.warm_up_ns = 500'000'000;
  i.limits.workgroup_invocations = l.maxComputeWorkGroupInvocations;
  i.limits.shared_bytes = l.maxComputeSharedMemorySize;
  i.limits.memory_bytes = d.device_local_bytes();
  // lavapipe takes seconds to compile 16,000 words.
  i.limits.private_bytes = d.is_cpu() ? 16 << 10 : 256 << 10;
  i.limits.resident_invocations =
      d.is_cpu() ? 1024 * std::max(1u, std::thread::hardware_concurrency()) : 1 << 18;
  i.limits.buffer_bytes = std::min(d.most_allocation_bytes, i.limits.memory_bytes);
  i.limits.subgroup_sizes = {1,  2,  4, 8,
                             16, 32, 64};  // non-native sizes by shuffles or shared memory
  i.limits.default_subgroup_size = d.reported.subgroup_size;
  i.limits.loops = true;
  i.limits.vector_access = true;
  if (!d.is_cpu()) i.limits.coarse_from = coarse_invocations;
  if (d.is_cpu()) i.not_automatic = "it is the CPU, by a longer way than backend `cpu`";
  const uint32_t v = d.properties.apiVersion;
  i.properties = {
      {"kind", std::string(kind_of(d))},
      {"Vulkan", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(v), VK_API_VERSION_MINOR(v),
                             VK_API_VERSION_PATCH(v))},
      {"native subgroups", d.least_subgroup == d.most_subgroup
                               ? fmt::to_string(d.most_subgroup)
                               : fmt::format("{} to {}", d.least_subgroup, d.most_subgroup)},
      {"reported", emit_exact::to_text(d.reported)}};
  return i;
}

std::string progress_of(const TestedProfile& t) {
  const auto word = [](bool goes_on) { return goes_on ? "yes" : "no"; };
  return fmt::format("workgroups that have begun: {}{}; lanes of a subgroup: {} (nothing needs it)",
                     word(t.workgroups_go_on),
                     t.workgroups_go_on && !t.forward_progress() ? ", but it cuts long waits" : "",
                     word(t.lanes_go_on));
}

std::string stop_word_of(const TestedProfile& t) {
  if (t.stop_ns)
    return fmt::format("seen: a launch ended {:.2f} ms after its deadline",
                       double(*t.stop_ns) / 1e6);
  return "not seen: a time limit is an error when the launch has ended, but does not end it";
}

void add_tested(DeviceInfo& i, const TestedProfile& t) {
  i.target = fmt::format("Vulkan 1.2, profile {}", emit_exact::to_text(t.profile));
  i.limits.default_subgroup_size = t.profile.subgroup_size;
  i.limits.forward_progress = t.forward_progress();
  i.properties.emplace_back("profile", emit_exact::to_text(t.profile));
  i.properties.emplace_back("progress", progress_of(t));
  i.properties.emplace_back("stop word", stop_word_of(t));
  i.properties.emplace_back("self-test", fmt::format("{:.2f} s", double(t.test_ns) / 1e9));
  for (const std::string& f : t.findings) i.properties.emplace_back("found", f);
  for (const auto& [op, what] : t.inexact)
    i.properties.emplace_back("refused", fmt::format("{}: {}", op, what));
}

std::string cache_folder() {
  const CacheOptions cache = CacheOptions::from_environment();
  return cache.enabled ? cache.directory : "";
}

class VulkanBackend : public Backend {
 public:
  explicit VulkanBackend(const Instance& instance) : instance_(instance) {}
  std::string_view name() const override { return "vulkan"; }
  std::string_view summary() const override { return "any Vulkan device"; }

  std::vector<DeviceInfo> probe(std::string* why_none) override {
    std::vector<DeviceInfo> list;
    std::string reasons;
    for (const PhysicalDevice& d : physical_devices(instance_)) {
      if (d.why_not.empty())
        list.push_back(info_of(d, uint32_t(list.size())));
      else
        reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", d.properties.deviceName,
                               d.why_not);
    }
    if (list.empty() && why_none)
      *why_none = reasons.empty() ? "there is no Vulkan device" : reasons;
    if (!list.empty() && !reasons.empty()) list[0].properties.emplace_back("not used", reasons);
    return list;
  }

  Result<std::unique_ptr<BackendDevice>> open(uint32_t index) override {
    const std::vector<PhysicalDevice> all = physical_devices(instance_);
    if (index >= all.size() || !all[index].why_not.empty())
      return diagnose(Code::DeviceIndex, {}, fmt::format("vulkan:{} is not there any more", index))
          .with_fix("look at `vyre devices`");
    const PhysicalDevice& physical = all[index];
    Result<std::shared_ptr<Context>> context = Context::open(physical, instance_.validation);
    if (!context) return context.errors();
    auto device = std::make_unique<VulkanDevice>(*context, info_of(physical, index));
    Result<TestedProfile> tested = tested_profile(*device, cache_folder());
    if (!tested) return tested.errors();
    if (const char* text = std::getenv("VYRE_VULKAN_PROFILE"); text && *text) {
      const auto forced = force_profile(text, tested->profile, physical);
      if (!forced) return forced.errors();
      tested->profile = *forced;
    }
    device->profile = tested->profile;
    device->inexact = tested->inexact;
    add_tested(device->describe(), *tested);
    return std::unique_ptr<BackendDevice>(std::move(device));
  }

 private:
  const Instance& instance_;
};

}  // namespace
}  // namespace vulkan

Backend* vulkan_backend(std::string* why) {
  const vulkan::Instance* const instance = vulkan::instance(why);
  if (!instance) return nullptr;
  static vulkan::VulkanBackend backend(*instance);
  return &backend;
}

}  // namespace vyre::driver
