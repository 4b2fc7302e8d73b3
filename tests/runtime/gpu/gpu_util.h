#pragma once

// Helpers shared by the tests of a real device: the device that VYRE_GPU_BACKEND names, kernels
// from text, and comparison with the interpreter. All use runtime/device.h, so the same tests run
// on any backend; tests that need a GPU check is_gpu().

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "ir/module.h"
#include "runtime/device.h"
#include "runtime/run_kernel.h"

namespace vyre::driver {

using U = std::vector<uint32_t>;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <class T>
std::span<const std::byte> in(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}
template <class T>
std::span<std::byte> out(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}
template <class T>
std::vector<std::byte> bytes(const std::vector<T>& v) {
  const auto s = in(v);
  return {s.begin(), s.end()};
}

/// first, first + 1, …
U counting(size_t n, uint32_t first = 0);
/// Numbers that look like noise.
U noise(size_t n, uint32_t seed);

/// Returns the value of VYRE_GPU_BACKEND, else "cuda".
std::string backend_name();

/// Read and checked; the file is called "test.vyre" in errors.
Module parsed(const std::string& source);
Program kernel(const std::string& source, size_t index = 0);

std::string text_of(const Diagnostics& errors);

/// Inputs of a kernel's parameters in order; outputs have none.
LaunchInputs inputs_of(const Program& p, const std::vector<std::vector<std::byte>>& values,
                       std::optional<std::array<uint64_t, 3>> grid = {});

/// A test with the device. It is skipped where there is none.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  bool is_gpu() const;
  Device& device() { return *device_; }
  /// The same device with its grid barriers split into launches, whatever it can do.
  Device& split_device();
  const DeviceLimits& limits() { return device_->info().limits; }

  /// All fail the test if they fail.
  Executable compile(const std::string& source, const CompileOptions& options = {});
  Buffer buffer(uint64_t bytes);  // zeros; freed at the end
  Buffer buffer(const U& contents);
  void write(Buffer b, const U& contents);
  U read(Buffer b);
  SubmitReport submit(std::vector<Command> commands, const SubmitOptions& options = {});
  SubmitReport launch(const Executable& code, std::vector<Argument> arguments);
  /// May fail.
  Result<SubmitReport> attempt(std::vector<Command> commands, const SubmitOptions& options = {});

  /// The same bytes on the device as by the interpreter, or the same failure.
  void same(Device& d, const Program& p, const LaunchInputs& inputs,
            const CompileOptions& options = {});
  /// Expects that the device still runs launches correctly.
  void still_works();

 private:
  std::optional<Device> device_, split_;
  std::vector<Buffer> buffers_;
};

template <class T>
void expect_code(const Result<T>& r, Code code) {
  ASSERT_FALSE(r) << "succeeded; " << to_string(code) << " was due";
  EXPECT_EQ(to_string(r.errors()[0].code), to_string(code)) << text_of(r.errors());
}

}  // namespace vyre::driver
