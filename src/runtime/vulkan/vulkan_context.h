#pragma once

// An opened device: its functions, its queue, and what all parts of the backend ask it.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "diagnostics/result.h"
#include "runtime/vulkan/physical.h"

namespace vyre::driver::vulkan {

class Context {
 public:
  static Result<std::shared_ptr<Context>> open(const PhysicalDevice& physical, bool validation);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const PhysicalDevice physical;
  const bool validation;
  VolkDeviceTable vk{};  // tests put functions that fail in the places of others
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::mutex queue_mutex;  // of submissions
  VkPipelineLayout layout = VK_NULL_HANDLE;

  /// An error of the device in words; remembers that it is lost.
  Diagnostic failure(VkResult result, std::string_view doing);
  bool is_lost() const { return lost_; }
  Diagnostic lost_diagnostic(std::string_view doing) const;

  /// With validation on: what the layers said since the last call, as an error. It is always a
  /// mistake of ours.
  std::optional<Diagnostic> complaint() const;

  /// Blocks until nothing runs.
  void wait_idle();

 private:
  Context(const PhysicalDevice& p, bool v) : physical(p), validation(v) {}
  static void forget_all();
  std::atomic<bool> lost_{false};
};

}  // namespace vyre::driver::vulkan
