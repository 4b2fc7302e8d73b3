#pragma once

// An opened device: its functions, its queue, and the queries that all parts of the backend need.

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
  VolkDeviceTable vk{};  // tests replace functions by failing ones
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::mutex queue_mutex;  // guards submissions
  VkPipelineLayout layout = VK_NULL_HANDLE;

  /// Returns an error of the device as a diagnostic; remembers that the device is lost.
  Diagnostic failure(VkResult result, std::string_view doing);
  bool is_lost() const { return lost_; }
  Diagnostic lost_diagnostic(std::string_view doing) const;

  /// With validation on: returns the messages of the layers since the last call, as an error. Such
  /// a message is always an error in vyre.
  std::optional<Diagnostic> complaint() const;

  /// Blocks until nothing runs.
  void wait_idle();

 private:
  Context(const PhysicalDevice& p, bool v) : physical(p), validation(v) {}
  static void forget_all();
  std::atomic<bool> lost_{false};
};

}  // namespace vyre::driver::vulkan
