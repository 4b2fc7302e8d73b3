#pragma once

// A `.vyre` file that is a test: its first lines say how, comments say what is expected.
// tests/README.md has the format.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "differential/text_test.h"
#include "tools/vyre/program_file.h"

namespace vyre::runner {

using lab::after_key;
using lab::brief;
using lab::join_lines;
using lab::split_words;
using lab::trimmed;

struct TestFile : lab::TextTest {
  cli::LoadOptions load;  // from `// flags:`
};

/// The result of a test.
struct Verdict {
  std::vector<std::string> failures;  // each may have several lines; none: passed
  std::optional<std::string>
      blessed;  // the file with today's results as expectations, if it differs

  void fail(std::string text) { failures.push_back(std::move(text)); }
};

/// Reads a file and its header; errors in them are added to `verdict`.
std::optional<TestFile> read_test_file(const std::string& path, Verdict& verdict);

// ---- the modes, one file each
// --------------------------------------------------------------------

Verdict test_round_trip(const TestFile& test);
Verdict test_reject(const TestFile& test);
Verdict test_run(const TestFile& test);
Verdict test_check_clean(const TestFile& test);
Verdict test_sanitize(const TestFile& test);
Verdict test_plan(const TestFile& test);
Verdict test_pass(const TestFile& test);
Verdict test_codegen(const TestFile& test);

/// A page of documentation: its programs, commands and links.
Verdict test_document(const std::string& path);

}  // namespace vyre::runner
