#pragma once

// Which backends there are in this build, and why the others are not.

#include <span>
#include <string>
#include <string_view>

#include "support/result.h"

namespace vyre::cli {

struct BackendProperty {
  std::string_view name;
  std::string_view value;
};

struct BackendInfo {
  std::string_view name;
  bool available = false;
  std::string_view summary;
  std::string_view why;  // it is not available
  std::span<const BackendProperty> properties;
};

std::span<const BackendInfo> backends();

/// The backend that `--backend NAME` stands for; `auto` is the best one that is here.
Result<const BackendInfo*> choose_backend(const std::string& name);

}  // namespace vyre::cli
