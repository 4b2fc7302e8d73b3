#pragma once

// The version that this library was built as. Only version.cc includes the generated
// vyre/version.h, so a commit recompiles one small source.

#include <string_view>

namespace vyre {

/// For example "0.2.0".
std::string_view library_version();
/// The output of `git describe` when the build was configured, or "unknown".
std::string_view library_revision();

}  // namespace vyre
