#pragma once

// Kernels of the backend itself, written in the language and compiled like any other. Loops on the
// device need them (recorder_loop.cc).

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
  /// Returns a kernel; compiles it at the first request.
  Result<const One*> get(Helper which, const std::shared_ptr<Context>& context,
                         const emit_exact::Profile& profile);

 private:
  std::mutex mutex_;
  std::array<One, 3> all_;  // guarded
};

}  // namespace vyre::driver::vulkan
