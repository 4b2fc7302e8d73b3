// Mode reject: a program with mistakes, each marked on its line.

#include "tests/runner/markers.h"

namespace vyre::runner {

Verdict test_reject(const TestFile& test) {
  Verdict verdict;
  const auto markers = read_markers(test, verdict);
  const auto loaded = cli::load_module_bytes(test.text, test.path, test.load);
  std::vector<const Diagnostic*> found;
  for (const Diagnostic& d : loaded.diagnostics) found.push_back(&d);
  compare_with_markers(markers, found, test, false, verdict);
  if (!has_errors(loaded.diagnostics)) verdict.fail("expected errors, but the program is legal");
  if (!verdict.failures.empty() && has_errors(loaded.diagnostics))
    verdict.blessed = bless_markers(test, markers, loaded.diagnostics, false);
  return verdict;
}

}  // namespace vyre::runner
