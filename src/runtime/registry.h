#pragma once

// The registry of backends, and the resolution of device names.

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "runtime/device_name.h"

namespace vyre::driver {

struct CacheOptions;

/// A backend that vyre knows, present or not.
struct BackendEntry {
  std::string_view name;
  std::string_view summary;
  /// Returns the backend; or null, and in `why` the reason, to follow "because". May load a library
  /// at its first call, so it is called only for a requested backend.
  Backend* (*get)(std::string* why) = nullptr;
  bool automatic = true;          // `auto` may choose it; tests turn this off
  Backend* registered = nullptr;  // by a test, instead of get

  Backend* backend(std::string* why) const { return registered ? registered : get(why); }
};

/// Returns all backends that vyre knows, in the order of preference; the interpreter last.
std::span<const BackendEntry> backend_entries();

/// For tests: registers a backend for the lifetime of the guard.
class RegisterForTest {
 public:
  explicit RegisterForTest(Backend* backend);
  ~RegisterForTest();
};

/// For tests: hides a backend from `auto` for the lifetime of the guard.
class NotAutomaticForTest {
 public:
  explicit NotAutomaticForTest(std::string_view name);
  ~NotAutomaticForTest();

 private:
  std::string_view name_;
};

/// A backend and the result of its probe.
struct Probed {
  BackendEntry entry;
  Backend* backend = nullptr;
  std::vector<DeviceInfo> devices;
  std::string why_none;
};
Probed probe(const BackendEntry& entry);
std::vector<Probed> probe_all();

/// The result of resolving "cuda", "cuda:1" or "auto", with options in brackets
/// (runtime/device_name.h). `why` says what `auto` chose and why. Unknown names and absent backends
/// are errors that list what is available and why the others are not; options that the device lacks
/// are errors too. Device::open() opens a choice.
struct Choice {
  Backend* backend = nullptr;
  uint32_t index = 0;
  std::string why;
  bool is_named = false;  // not by `auto`: a kernel with grid barriers triggers their calibration
  DeviceName name;        // its options are those of every compile
  // `auto`:
  bool split_grid_barriers = false;  // measured to be faster than the device's own
  std::vector<Choice> others;        // to try in this order if the device cannot be opened
};
Result<Choice> choose(std::string_view name);
/// Returns the choice of `auto` with this cache: the best of the available devices, by calibration
/// (runtime/compile/calibrate.h).
Choice choose_automatically(const CacheOptions& cache);

}  // namespace vyre::driver
