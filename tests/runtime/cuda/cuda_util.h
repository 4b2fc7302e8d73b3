#pragma once

// The CUDA backend on the fake driver, with the interpreter as the executor of kernels.

#include <gtest/gtest.h>

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/fake_cuda.h"
#include "runtime/driver_util.h"

namespace vyre::driver {

/// As long as it lives, the CUDA backend is the one of the fake driver. One at a time; whatever was
/// opened must be gone before it is, and nothing of the driver's may be left then.
class FakeGpu {
 public:
  explicit FakeGpu(const fake_cuda::Config& config = {});
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  fake_cuda::Control& control() { return *control_; }
  uint64_t calls(const std::string& function) const { return control_->calls(function); }
  /// A device without the compile cache.
  Device open(OpenOptions options = {}, uint32_t index = 0);
  Result<Device> try_open(OpenOptions options = {}, uint32_t index = 0);
  /// A device was lost: its objects are not released.
  void forgive_leaks() { forgives_ = true; }

 private:
  fake_cuda::Control* control_ = nullptr;
  bool forgives_ = false;
};

inline constexpr const char* twice = R"(
kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 2
}
)";

/// Runs a launch with the interpreter: the executor that FakeGpu installs.
bool execute(const fake_cuda::Launch& launch);

/// Workgroups in x of the last launch.
unsigned last_grid();

/// The library's path. The backend asks a library once for its version: each version has a path of
/// its own.
std::string fake_library(int version);

}  // namespace vyre::driver
