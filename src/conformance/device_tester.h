#pragma once

// The interface for cases about the runtime: each case performs a few operations on a device and
// checks their results. The first failure is kept; its consequences are not.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "conformance/certify_cases.h"

namespace vyre::lab {

using U32s = std::vector<uint32_t>;

template <class T>
std::span<const std::byte> bytes_in(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}
template <class T>
std::span<std::byte> bytes_out(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}

class DeviceTester {
 public:
  DeviceTester(driver::Device device, const driver::CompileOptions& options)
      : device(std::move(device)), options_(options) {}
  ~DeviceTester();
  DeviceTester(const DeviceTester&) = delete;
  DeviceTester& operator=(const DeviceTester&) = delete;

  driver::Device device;
  std::string what;                   // the first failure
  std::string skipped;                // why the case does not apply to this device
  std::optional<Diagnostic> refusal;  // the device refuses a program of the case

  void expect(bool holds, std::string_view otherwise);
  void equal(const U32s& got, const U32s& wanted, std::string_view name);
  /// Checks that the first error has this code.
  template <class T>
  void fails(const Result<T>& r, Code code, std::string_view during) {
    if (r)
      expect(false, fmt::format("{} succeeded; {} was due", during, to_string(code)));
    else if (r.errors()[0].code == Code::NotExact)
      refusal = r.errors()[0];  // a device that ends loops on its own has no endless ones
    else if (r.errors()[0].code != code)
      expect(false, fmt::format("{} gave {}; {} was due", during, codes_and_messages(r.errors()),
                                to_string(code)));
  }
  template <class T>
  void works(const Result<T>& r, std::string_view during) {
    if (!r) expect(false, fmt::format("{} failed: {}", during, codes_and_messages(r.errors())));
  }

  driver::Executable compile(const std::string& source);
  /// Allocates a buffer of zeros or of the given contents; freed at the end.
  driver::Buffer buffer(uint64_t bytes);
  driver::Buffer buffer(const U32s& contents);
  void free(driver::Buffer b);
  U32s read(driver::Buffer b);
  Result<driver::SubmitReport> submit(std::vector<driver::Command> commands,
                                      const driver::SubmitOptions& options = {});
  /// Submits one launch and waits for it.
  Result<driver::SubmitReport> launch(const driver::Executable& code,
                                      std::vector<driver::Argument> arguments,
                                      double time_limit = 0);
  /// Checks that the device still works.
  void still_works();

 private:
  const driver::CompileOptions& options_;
  std::vector<driver::Buffer> buffers_;
};

struct DeviceCase {
  const char* name;
  void (*test)(DeviceTester&);
};

/// Runs the cases of a group, with one tester per case.
void run_device_cases(Certification& c, std::span<const DeviceCase> cases);

}  // namespace vyre::lab
