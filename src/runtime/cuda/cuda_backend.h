#pragma once

// NVIDIA GPUs through the driver API: libcuda.so.1, opened when somebody asks for it. Nothing of
// the CUDA toolkit is needed, neither to build nor to run.

#include <string>

#include "runtime/backend.h"

namespace vyre::driver {

/// The backend, or null and why there is none, to follow "because".
Backend* cuda_backend(std::string* why);

}  // namespace vyre::driver
