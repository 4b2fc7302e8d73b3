#pragma once

// What must hold for every refusal of a reader.

#include <string>

#include "diagnostics/diagnostic.h"

namespace vyre {

/// "" or what is wrong: a refusal has an error, and errors have messages and fixes.
inline std::string check_errors(const Diagnostics& errors) {
  if (!has_errors(errors)) return "a refusal without an error";
  for (const Diagnostic& d : errors) {
    if (d.message.empty()) return "an error without a message: " + to_string(d.code);
    if (d.severity == Severity::Error && d.fix.empty())
      return "an error without a fix: " + d.message;
  }
  return "";
}

}  // namespace vyre
