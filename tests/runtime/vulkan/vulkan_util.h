#pragma once

// Helpers shared by the tests of the Vulkan backend. They run on lavapipe, whatever other devices
// the machine has, with the validation layers enabled: any message of the layers fails the test.

#include "tests/runtime/driver_util.h"

namespace vyre::driver {

/// Skips where lavapipe is not installed (mesa-vulkan-drivers).
class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  static Device open(const OpenOptions& options = {}) {
    Result<Device> d = Device::open("vulkan", options);
    EXPECT_TRUE(d) << render(d.errors(), {});
    return *d;
  }
  /// Runs a kernel and compares with the interpreter, byte by byte.
  static void same_as_interp(const std::string& source, const LaunchInputs& inputs,
                             const CompileOptions& compile = {}, size_t index = 0);
};

/// The icd file of a driver, or "" if it is not here.
std::string lavapipe_icd();
std::string swiftshader_icd();

/// `vyre` with these arguments and environment ("A=1"), its output and exit status.
struct Ran {
  int status = 0;
  std::string output;
};
Ran run_vyre(const std::vector<std::string>& environment, const std::string& arguments);

}  // namespace vyre::driver
