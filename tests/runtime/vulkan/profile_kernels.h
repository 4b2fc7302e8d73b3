#pragma once

// The kernels that run under every forced profile: those of the self-test, and kernels for
// operations that it does not test because no device is expected to compute them wrongly.

#include "runtime/vulkan/self_test_cases.h"

namespace vyre::driver {

const std::vector<vulkan::TestGroup>& profile_kernels();

}  // namespace vyre::driver
