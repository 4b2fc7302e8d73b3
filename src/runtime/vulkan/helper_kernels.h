#pragma once

// Kernels of the backend itself, written in the language and compiled like any other: what loops on
// the device need (recorder_loop.cc).

#include <array>
#include <memory>
#include <mutex>

#include "runtime/vulkan/vulkan_kernel.h"

namespace vyre::driver::vulkan {

enum class Helper : uint8_t { Gate, Fill, Copy };

class HelperKernels {
 public:
  struct One {
    std::shared_ptr<const Program> program;
    std::shared_ptr<VulkanKernel> kernel;
  };
  /// Compiled when it is first asked for.
  Result<const One*> get(Helper which, const std::shared_ptr<Context>& context,
                         const emit_exact::Profile& profile);

 private:
  std::mutex mutex_;
  std::array<One, 3> all_;  // guarded
};

}  // namespace vyre::driver::vulkan
