#include "runtime/vulkan/vulkan_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <spirv/unified1/spirv.hpp>

#include "support/hash.h"

namespace vyre::driver::vulkan {
namespace {

static_assert(std::is_trivially_copyable_v<emit_spirv::KernelInfo>);

/// Precedes the words and the driver's pipeline cache data.
struct Header {
  std::array<char, 8> magic = {'V', 'Y', 'R', 'E', 'V', 'L', 'K', '1'};
  uint32_t abi = 0;
  uint32_t info_bytes = sizeof(emit_spirv::KernelInfo);
  std::array<uint8_t, VK_UUID_SIZE> device{}, driver{};
  uint64_t word_bytes = 0;
  uint64_t kept_bytes = 0;
  uint64_t hash = 0;  // of everything else: corrupted code must not run
};
static_assert(std::has_unique_object_representations_v<Header>);

uint64_t hash_of(Header h, std::span<const std::byte> rest) {
  h.hash = hash64(rest);
  return hash64(std::as_bytes(std::span(&h, 1)));
}

Diagnostic too_large(const Program& p, std::string what) {
  return diagnose(Code::KernelTooLarge, p.place(p.loc), std::move(what))
      .with_fix("use a smaller workgroup, or another device");
}

std::optional<Diagnostic> misfit(const PhysicalDevice& d, const Program& p) {
  const VkPhysicalDeviceLimits& l = d.properties.limits;
  for (int i = 0; i < 3; ++i)
    if (p.workgroup[i] > l.maxComputeWorkGroupSize[i])
      return too_large(p, fmt::format("kernel `{}` has a workgroup of {} in dimension {}; {} has "
                                      "at most {}",
                                      p.name, p.workgroup[i], "xyz"[i], d.properties.deviceName,
                                      l.maxComputeWorkGroupSize[i]));
  return std::nullopt;
}

/// Returns the maximum nesting depth of ifs or of loops. The emitter writes the merge block of each
/// after its body, so one pass suffices.
uint32_t nesting_of(std::span<const uint32_t> words) {
  constexpr size_t first_instruction = 5;
  std::vector<uint32_t> ends;  // of open constructs
  std::vector<bool> are_loops;
  uint32_t open[2] = {0, 0}, most = 0;  // ifs, loops
  for (size_t at = first_instruction; at < words.size(); at += words[at] >> spv::WordCountShift) {
    const auto op = spv::Op(words[at] & spv::OpCodeMask);
    if (op == spv::OpLabel)
      for (; !ends.empty() && ends.back() == words[at + 1]; ends.pop_back(), are_loops.pop_back())
        --open[are_loops.back()];
    const bool is_loop = op == spv::OpLoopMerge;
    if (!is_loop && op != spv::OpSelectionMerge) continue;
    ends.push_back(words[at + 1]);
    are_loops.push_back(is_loop);
    most = std::max(most, ++open[is_loop]);
  }
  return most;
}

Diagnostic too_deep(uint32_t nesting, const PhysicalDevice& d, std::string_view kernel) {
  return diagnose(Code::KernelTooLarge, {},
                  fmt::format("kernel `{}` has {} ifs or loops inside each other; the compiler of "
                              "{} is right for at most {}",
                              kernel, nesting, d.properties.deviceName, d.most_nested))
      .with_fix("split the kernel, or use another device");
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::make(std::shared_ptr<Context> context,
                                                 std::span<const uint32_t> words,
                                                 const emit_spirv::KernelInfo& info,
                                                 std::string_view kernel_name,
                                                 std::span<const std::byte> kept) {
  Context& c = *context;
  std::unique_ptr<Pipeline> p(new Pipeline(std::move(context)));
  if (c.is_lost()) return c.lost_diagnostic("compiling a kernel");
  if (const uint32_t n = nesting_of(words); n > c.physical.most_nested)
    return too_deep(n, c.physical, kernel_name);
  auto cache = made<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  cache.initialDataSize = kept.size();
  cache.pInitialData = kept.data();
  if (c.vk.vkCreatePipelineCache(c.device, &cache, nullptr, &p->cache_) != VK_SUCCESS)
    p->cache_ = VK_NULL_HANDLE;  // continues without a cache

  auto module = made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module.codeSize = words.size_bytes();
  module.pCode = words.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  VkResult r = c.vk.vkCreateShaderModule(c.device, &module, nullptr, &shader);
  if (r == VK_SUCCESS) {
    auto size = made<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
    size.requiredSubgroupSize = info.native_subgroup;
    auto create = made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    create.stage.module = shader;
    create.stage.pName = emit_spirv::kernel_symbol;
    if (info.native_subgroup && c.physical.subgroup_size_control) create.stage.pNext = &size;
    if (info.full_subgroups && c.physical.full_subgroups)
      create.stage.flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    create.layout = c.layout;
    r = c.vk.vkCreateComputePipelines(c.device, p->cache_, 1, &create, nullptr, &p->pipeline_);
    c.vk.vkDestroyShaderModule(c.device, shader, nullptr);
  }
  if (r == VK_SUCCESS) return p;
  p->pipeline_ = VK_NULL_HANDLE;
  if (r == VK_ERROR_DEVICE_LOST) return c.failure(r, "compiling a kernel");
  Diagnostic d = diagnose(Code::CodeRejected, {},
                          fmt::format("the driver of {} refused the code of kernel `{}` ({})",
                                      c.physical.properties.deviceName, kernel_name, name(r)));
  d.note(fmt::format("the driver is {}", c.physical.driver));
  return d.with_fix("run the kernel on another backend, and report it with the program");
}

Pipeline::~Pipeline() {
  if (pipeline_) c_->vk.vkDestroyPipeline(c_->device, pipeline_, nullptr);
  if (cache_) c_->vk.vkDestroyPipelineCache(c_->device, cache_, nullptr);
}

std::vector<std::byte> Pipeline::kept() const {
  size_t n = 0;
  if (!cache_ || c_->vk.vkGetPipelineCacheData(c_->device, cache_, &n, nullptr) != VK_SUCCESS)
    return {};
  std::vector<std::byte> data(n);
  if (c_->vk.vkGetPipelineCacheData(c_->device, cache_, &n, data.data()) != VK_SUCCESS) return {};
  data.resize(n);
  return data;
}

Result<const VulkanKernel::Variant*> VulkanKernel::linear(const Program& program) {
  const std::lock_guard lock(mutex_);
  if (linear_) return linear_.get();
  emit_spirv::EmitOptions changed = options;
  changed.linear_grid = true;
  Result<emit_spirv::Kernel> emitted = emit_spirv::emit(program, changed);
  if (!emitted) return emitted.errors();
  Result<std::unique_ptr<Pipeline>> made_pipeline =
      Pipeline::make(context, emitted->words, emitted->info, program.name, {});
  if (!made_pipeline) return made_pipeline.errors();
  auto variant = std::make_unique<Variant>();
  variant->code = std::move(*emitted);
  variant->pipeline = std::move(*made_pipeline);
  linear_ = std::move(variant);
  return linear_.get();
}

std::vector<std::byte> VulkanKernel::serialize() const {
  const std::vector<std::byte> kept = pipeline->kept();
  const auto words = std::as_bytes(std::span(code.words));
  Header h;
  h.abi = code.info.abi;
  h.device = context->physical.device_uuid;
  h.driver = context->physical.driver_uuid;
  h.word_bytes = words.size();
  h.kept_bytes = kept.size();
  std::vector<std::byte> bytes(sizeof h + sizeof code.info + words.size() + kept.size());
  std::byte* at = bytes.data() + sizeof h;
  std::memcpy(at, &code.info, sizeof code.info);
  std::memcpy(at += sizeof code.info, words.data(), words.size());
  if (!kept.empty()) std::memcpy(at + words.size(), kept.data(), kept.size());
  h.hash = hash_of(h, std::span(bytes).subspan(sizeof h));
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

Result<std::shared_ptr<VulkanKernel>> compile_kernel(const std::shared_ptr<Context>& context,
                                                     const Program& program,
                                                     const emit_spirv::EmitOptions& options) {
  if (auto d = misfit(context->physical, program)) return *d;
  const auto begin = std::chrono::steady_clock::now();
  Result<emit_spirv::Kernel> emitted = emit_spirv::emit(program, options);
  if (!emitted) return emitted.errors();
  const auto end = std::chrono::steady_clock::now();
  Result<std::unique_ptr<Pipeline>> pipeline =
      Pipeline::make(context, emitted->words, emitted->info, program.name, {});
  if (!pipeline) return pipeline.errors();
  if (auto d = context->complaint()) return *d;
  auto kernel = std::make_shared<VulkanKernel>();
  kernel->context = context;
  kernel->options = options;
  kernel->code = std::move(*emitted);
  kernel->pipeline = std::move(*pipeline);
  kernel->subgroup_size = kernel->code.info.subgroup_size;
  kernel->emit_ns = uint64_t(std::chrono::nanoseconds(end - begin).count());
  return kernel;
}

std::shared_ptr<VulkanKernel> load_kernel(const std::shared_ptr<Context>& context,
                                          const Program& program,
                                          const emit_spirv::EmitOptions& options,
                                          std::span<const std::byte> bytes) {
  Header h;
  const Header expected;
  emit_spirv::KernelInfo info;
  if (bytes.size() < sizeof h + sizeof info) return nullptr;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::span<const std::byte> rest = bytes.subspan(sizeof h);
  if (h.magic != expected.magic || h.abi != emit_spirv::abi_version ||
      h.info_bytes != expected.info_bytes || h.device != context->physical.device_uuid ||
      h.driver != context->physical.driver_uuid || h.word_bytes % 4 != 0 ||
      h.word_bytes > rest.size() || h.kept_bytes > rest.size() ||
      sizeof info + h.word_bytes + h.kept_bytes != rest.size() || h.hash != hash_of(h, rest))
    return nullptr;
  std::memcpy(&info, rest.data(), sizeof info);
  const uint32_t asked = program.subgroup ? program.subgroup : options.subgroup_size;
  if (asked && info.subgroup_size != asked) return nullptr;
  auto kernel = std::make_shared<VulkanKernel>();
  kernel->code.info = info;
  kernel->code.words.resize(h.word_bytes / 4);
  std::memcpy(kernel->code.words.data(), rest.data() + sizeof info, h.word_bytes);
  Result<std::unique_ptr<Pipeline>> pipeline = Pipeline::make(
      context, kernel->code.words, info, program.name, rest.subspan(sizeof info + h.word_bytes));
  if (!pipeline) return nullptr;
  kernel->context = context;
  kernel->options = options;
  kernel->pipeline = std::move(*pipeline);
  kernel->subgroup_size = info.subgroup_size;
  return kernel;
}

}  // namespace vyre::driver::vulkan
