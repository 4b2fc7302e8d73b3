#pragma once

// Runs a kernel of the self-test on a device and on the interpreter, with the operands of
// self_test_input(), and compares the results.

#include <optional>

#include "interp/interp.h"
#include "runtime/vulkan/self_test_cases.h"
#include "runtime/vulkan/vulkan_device.h"

namespace vyre::driver::vulkan {

using Bytes = std::vector<std::byte>;

class TestRun {
 public:
  /// The group must outlive it. `subgroup_size` is for programs that fix none.
  TestRun(const TestGroup& group, uint32_t subgroup_size);

  const std::shared_ptr<const Program>& program() const { return program_; }
  /// Returns the interpreter's result. Computed once: it does not depend on the profile.
  Result<interp::Outcome>& expected();
  /// Returns the device's result for the buffers that the host gets back. An error of `kernel` is
  /// passed on.
  Result<IdMap<BufferId, Bytes>> actual(VulkanDevice& device,
                                        const Result<std::shared_ptr<CompiledKernel>>& kernel);
  /// Returns how a result is wrong, for people; "" if it is right.
  std::string difference(const TestRow& row, const Bytes& got);

 private:
  const TestGroup& g_;
  const std::shared_ptr<const Program> program_;
  LaunchInputs inputs_;
  interp::Options options_;
  std::optional<Result<interp::Outcome>> expected_;
};

}  // namespace vyre::driver::vulkan
