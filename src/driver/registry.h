#pragma once

// Which backends there are, and which one a name means.

#include <memory>
#include <string_view>
#include <vector>

#include "driver/backend.h"

namespace vyre::driver {

/// A backend of this vyre, present or not.
struct BackendEntry {
  std::string_view name;
  std::string_view summary;
  Backend* backend = nullptr;  // null: not part of this build
  std::string_view why_absent;
};

/// All backends that vyre knows, in the order of preference; the interpreter last.
std::span<const BackendEntry> backend_entries();

/// For tests: a backend of their own takes part until the guard is gone.
class RegisterForTest {
 public:
  explicit RegisterForTest(Backend* backend);
  ~RegisterForTest();
};

/// A backend and what its probe found.
struct Probed {
  BackendEntry entry;
  std::vector<DeviceInfo> devices;
  std::string why_none;
};
std::vector<Probed> probe_all();

/// "cuda", "cuda:1" or "auto". `why` says what `auto` chose and on what grounds. Unknown names and
/// absent backends are errors that list what is there and why the others are not.
struct Choice {
  Backend* backend = nullptr;
  uint32_t index = 0;
  std::string why;
};
Result<Choice> choose(std::string_view name);

}  // namespace vyre::driver
