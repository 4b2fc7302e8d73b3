#pragma once

// NVIDIA GPUs through the driver API: libcuda.so.1, opened at the first use of the backend. Nothing
// of the CUDA toolkit is needed, neither to build nor to run.

#include <string>

#include "runtime/backend.h"

namespace vyre::driver {

/// Returns the backend; or null, and in `why` the reason, to follow "because".
Backend* cuda_backend(std::string* why);

}  // namespace vyre::driver
