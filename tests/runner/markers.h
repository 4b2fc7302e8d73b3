#pragma once

// Comments that say which diagnostics are expected where: `//! V0140 "…"` an error on this line,
// `//? V0170` a warning or note, `//! @-1 V0102` one in the line before, `//! V0106 @file` one that
// has no line in this file.

#include <string>
#include <vector>

#include "tests/runner/codes.h"
#include "tests/runner/test_file.h"

namespace vyre::runner {

inline constexpr long no_line = 0;  // of `@file`: an error that points at no line of this file

struct Marker {
  size_t line = 0;    // index into TestFile::lines where it stands
  long target = 0;    // the line, counted from 1, that it speaks of
  bool error = true;  // //! and not //?
  std::string where;  // "@file", "@-1" or ""
  std::vector<ExpectedCode> codes;
};

/// All of a file; what cannot be understood goes to `verdict`.
std::vector<Marker> read_markers(const TestFile& test, Verdict& verdict);

/// The line of the test that a diagnostic points at, counted from 1.
long line_of(const Diagnostic& d, const TestFile& test);

/// Takes each expected code from `found` once; errors that are left are failures, and with `all`
/// warnings, too.
void compare_with_markers(const std::vector<Marker>& markers, std::vector<const Diagnostic*> found,
                          const TestFile& test, bool all, Verdict& verdict);

/// The file with one marker for every error, and with `all` for every warning; a marker keeps its
/// place, form and message where it can.
std::string bless_markers(const TestFile& test, const std::vector<Marker>& markers,
                          const Diagnostics& diagnostics, bool all);

}  // namespace vyre::runner
