#pragma once

// Which backends there are, and which one a name means.

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "runtime/device_name.h"

namespace vyre::driver {

struct CacheOptions;

/// A backend of this vyre, present or not.
struct BackendEntry {
  std::string_view name;
  std::string_view summary;
  /// The backend, or null and why, to follow "because". May load a library at its first call, so it
  /// is only called for a backend that somebody asks for.
  Backend* (*get)(std::string* why) = nullptr;
  bool automatic = true;          // may `auto` choose it? Tests turn it off
  Backend* registered = nullptr;  // by a test, instead of get

  Backend* backend(std::string* why) const { return registered ? registered : get(why); }
};

/// All backends that vyre knows, in the order of preference; the interpreter last.
std::span<const BackendEntry> backend_entries();

/// For tests: a backend of their own takes part until the guard is gone.
class RegisterForTest {
 public:
  explicit RegisterForTest(Backend* backend);
  ~RegisterForTest();
};

/// For tests: `auto` does not see the backend until the guard is gone.
class NotAutomaticForTest {
 public:
  explicit NotAutomaticForTest(std::string_view name);
  ~NotAutomaticForTest();

 private:
  std::string_view name_;
};

/// A backend and what its probe found.
struct Probed {
  BackendEntry entry;
  Backend* backend = nullptr;
  std::vector<DeviceInfo> devices;
  std::string why_none;
};
Probed probe(const BackendEntry& entry);
std::vector<Probed> probe_all();

/// "cuda", "cuda:1" or "auto", with options in brackets (runtime/device_name.h). `why` says what
/// `auto` chose and on what grounds. Unknown names and absent backends are errors that list what is
/// there and why the others are not; so are options that the device does not have. Device::open()
/// opens it.
struct Choice {
  Backend* backend = nullptr;
  uint32_t index = 0;
  std::string why;
  bool is_named = false;  // not by `auto`: grid barriers are calibrated when a kernel has one
  DeviceName name;        // its options are those of every compile
  // `auto`:
  bool split_grid_barriers = false;  // measured to be faster than the device's own
  std::vector<Choice> others;        // to try in this order if the device cannot be opened
};
Result<Choice> choose(std::string_view name);
/// What `auto` means with this cache: the best of those that are here, by calibration
/// (runtime/compile/calibrate.h).
Choice choose_automatically(const CacheOptions& cache);

}  // namespace vyre::driver
