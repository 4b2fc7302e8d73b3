#pragma once

// Whose fault an error is. The command line turns it into its exit code: 1 the program failed, 2
// the input was bad, 3 the device or the system failed.

#include "support/diagnostic.h"

namespace vyre {

enum class Failure : uint8_t { BadInput, ProgramFailed, System };

/// By the ranges of launch.def and sanitize.def: 501..519 say what a running program did (a trap, a
/// limit passed), 551..559 what the sanitizer found in it, 521..539 what the machine could not do.
/// Every other code is about the input.
constexpr Failure classify(Code code) {
  const auto number = static_cast<unsigned>(code);
  if (number >= 501 && number <= 519) return Failure::ProgramFailed;
  if (number >= 551 && number <= 559) return Failure::ProgramFailed;
  if (number >= 521 && number <= 539) return Failure::System;
  return Failure::BadInput;
}

/// Of a list: the first error decides.
inline Failure classify(const Diagnostics& list) {
  for (const Diagnostic& d : list)
    if (d.severity == Severity::Error) return classify(d.code);
  return Failure::BadInput;
}

}  // namespace vyre
