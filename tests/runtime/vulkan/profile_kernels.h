#pragma once

// The kernels that run under every forced profile: those of the self-test, and those of what it
// does not try because no device is expected to have it wrong.

#include "runtime/vulkan/self_test_cases.h"

namespace vyre::driver {

const std::vector<vulkan::TestGroup>& profile_kernels();

}  // namespace vyre::driver
