#pragma once

// Classifies errors by their cause. The command line turns the class into its exit code: 1 the
// program failed, 2 the input was bad, 3 the device or the system failed.

#include "diagnostics/diagnostic.h"

namespace vyre {

enum class Failure : uint8_t { BadInput, ProgramFailed, System };

/// Classifies by the ranges of codes.def. Launches: 501..519 failures of a running program (a trap,
/// an exceeded limit), 521..539 failures of the machine, 551..559 findings of the sanitizer.
/// Devices: 702..709 an unavailable device, 718..722 one that is too small for the program, 723 an
/// exceeded limit, 731..799 GPU drivers. 805 is a bug of a pass. Every other code is about the
/// input.
constexpr Failure classify(Code code) {
  const auto number = static_cast<unsigned>(code);
  const auto in = [number](unsigned first, unsigned last) {
    return number >= first && number <= last;
  };
  if (in(501, 519) || in(551, 559) || number == 723) return Failure::ProgramFailed;
  if (in(521, 539) || in(702, 709) || in(718, 722) || in(731, 799) || number == 805)
    return Failure::System;
  return Failure::BadInput;
}

/// Classifies a list: the first error decides.
inline Failure classify(const Diagnostics& list) {
  for (const Diagnostic& d : list)
    if (d.severity == Severity::Error) return classify(d.code);
  return Failure::BadInput;
}

}  // namespace vyre
