#pragma once

// A compiled kernel: SPIR-V words, the pipeline that the driver made of them, and their form in the
// compile cache. It keeps the VkDevice alive and may outlive the vyre device.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "codegen/spirv/spirv_emit.h"
#include "runtime/backend.h"
#include "runtime/vulkan/vulkan_context.h"

namespace vyre::driver::vulkan {

/// A pipeline and the cache data that the driver keeps of compiling it.
class Pipeline {
 public:
  /// `kept`: the result of kept() for the same words. Compiles anew if it is empty or from another
  /// driver.
  static Result<std::unique_ptr<Pipeline>> make(std::shared_ptr<Context> context,
                                                std::span<const uint32_t> words,
                                                const emit_spirv::KernelInfo& info,
                                                std::string_view kernel_name,
                                                std::span<const std::byte> kept);
  ~Pipeline();
  VkPipeline handle() const { return pipeline_; }
  std::vector<std::byte> kept() const;

 private:
  explicit Pipeline(std::shared_ptr<Context> c) : c_(std::move(c)) {}
  std::shared_ptr<Context> c_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
};

struct VulkanKernel : CompiledKernel {
  std::shared_ptr<Context> context;
  emit_spirv::EmitOptions options;
  emit_spirv::Kernel code;
  std::unique_ptr<Pipeline> pipeline;

  std::vector<std::byte> serialize() const override;

  /// For grids beyond the limits of the device (spirv_abi.h): created for the first such grid.
  struct Variant {
    emit_spirv::Kernel code;
    std::unique_ptr<Pipeline> pipeline;
  };
  Result<const Variant*> linear(const Program& program);

 private:
  std::mutex mutex_;
  std::unique_ptr<Variant> linear_;  // guarded
};

Result<std::shared_ptr<VulkanKernel>> compile_kernel(const std::shared_ptr<Context>& context,
                                                     const Program& program,
                                                     const emit_spirv::EmitOptions& options);

/// Loads bytes of serialize(); returns null if the bytes are not that, or belong to another device
/// or driver.
std::shared_ptr<VulkanKernel> load_kernel(const std::shared_ptr<Context>& context,
                                          const Program& program,
                                          const emit_spirv::EmitOptions& options,
                                          std::span<const std::byte> bytes);

}  // namespace vyre::driver::vulkan
