#pragma once

// What cases about the driver's interface are written with: each does a few things to a device and
// says what must come of it. The first thing that is wrong is kept; what follows from it is not.

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
  std::string what;                   // the first thing that is wrong
  std::string skipped;                // why the case says nothing of this device
  std::optional<Diagnostic> refusal;  // the device does not take a program of the case

  void expect(bool holds, std::string_view otherwise);
  void equal(const U32s& got, const U32s& wanted, std::string_view name);
  /// The first error has this code, and numbers where they are wanted.
  template <class T>
  void fails(const Result<T>& r, Code code, std::string_view during) {
    if (r)
      expect(false, fmt::format("{} succeeded; {} was due", during, to_string(code)));
    else if (r.errors()[0].code == Code::NotExact)
      refusal = r.errors()[0];  // a device that ends loops by itself has none without end
    else if (r.errors()[0].code != code)
      expect(false, fmt::format("{} gave {}; {} was due", during, codes_and_messages(r.errors()),
                                to_string(code)));
  }
  template <class T>
  void works(const Result<T>& r, std::string_view during) {
    if (!r) expect(false, fmt::format("{} failed: {}", during, codes_and_messages(r.errors())));
  }

  driver::Executable compile(const std::string& source);
  /// Zeros, or what is given; freed at the end.
  driver::Buffer buffer(uint64_t bytes);
  driver::Buffer buffer(const U32s& contents);
  void free(driver::Buffer b);
  U32s read(driver::Buffer b);
  Result<driver::SubmitReport> submit(std::vector<driver::Command> commands,
                                      const driver::SubmitOptions& options = {});
  /// A launch of its own, waited for.
  Result<driver::SubmitReport> launch(const driver::Executable& code,
                                      std::vector<driver::Argument> arguments,
                                      double time_limit = 0);
  /// Does the device still do what it is told?
  void still_works();

 private:
  const driver::CompileOptions& options_;
  std::vector<driver::Buffer> buffers_;
};

struct DeviceCase {
  const char* name;
  void (*test)(DeviceTester&);
};

/// Runs the cases of a group, each with a tester of its own.
void run_device_cases(Certification& c, std::span<const DeviceCase> cases);

}  // namespace vyre::lab
