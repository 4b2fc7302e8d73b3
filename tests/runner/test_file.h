#pragma once

// A `.vyre` file that is a test: its first lines say how, comments say what is expected.
// tests/README.md has the format.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/vyre/program_file.h"

namespace vyre::runner {

struct TestFile {
  std::string path;
  std::string text;
  std::vector<std::string> lines;  // of `text`, without newlines
  std::string mode;
  cli::LoadOptions load;  // from `// flags:`
};

/// What came of a test.
struct Verdict {
  std::vector<std::string> failures;  // each may have several lines; none: passed
  std::optional<std::string>
      blessed;  // the file with today's results as expectations, if it differs

  void fail(std::string text) { failures.push_back(std::move(text)); }
};

/// Reads a file and its header; what is wrong with it goes to `verdict`.
std::optional<TestFile> read_test_file(const std::string& path, Verdict& verdict);

/// The rest of a line after `// key:`, trimmed; nothing for another line.
std::optional<std::string_view> after_key(std::string_view line, std::string_view key);

std::string_view trimmed(std::string_view text);

/// Words as a shell would split them: at spaces, but not within quotes.
std::vector<std::string> split_words(std::string_view text);

std::string join_lines(const std::vector<std::string>& lines);

/// Diagnostics as a report shows them: one a line, with code and place.
std::string brief(const Diagnostics& list);

// ---- the modes, one file each
// --------------------------------------------------------------------

Verdict test_round_trip(const TestFile& test);
Verdict test_reject(const TestFile& test);
Verdict test_run(const TestFile& test);
Verdict test_check_clean(const TestFile& test);
Verdict test_sanitize(const TestFile& test);

/// A page of documentation: its programs, commands and links.
Verdict test_document(const std::string& path);

}  // namespace vyre::runner
