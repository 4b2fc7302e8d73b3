#pragma once

// A launch of the self-test: a kernel with its own memory, run once and waited for.

#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

struct TestLaunch {
  std::shared_ptr<const Program> program;
  std::shared_ptr<CompiledKernel> kernel;
  LaunchInputs inputs;
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

struct TestEnd {
  SubmissionOutcome::Kind kind = SubmissionOutcome::Kind::Done;
  OpId stopped_at = none;
  IdMap<BufferId, std::vector<std::byte>> buffers;  // that the host gets back, if it is Done
};

/// Returns an error if the device fails, or reports that the launch did.
Result<TestEnd> run_test(VulkanDevice& device, const TestLaunch& launch);

}  // namespace vyre::driver::vulkan
