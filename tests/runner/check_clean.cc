// Mode check-clean: a program with which nothing is wrong.

#include "tests/runner/test_file.h"

namespace vyre::runner {

Verdict test_check_clean(const TestFile& test) {
  Verdict verdict;
  const auto loaded = cli::load_module_bytes(test.text, test.path, test.load);
  Diagnostics found;
  for (const Diagnostic& d : loaded.diagnostics)
    if (d.severity != Severity::Note) found.push_back(d);
  if (!found.empty()) verdict.fail("expected no errors and no warnings:\n" + brief(found));
  return verdict;
}

}  // namespace vyre::runner
