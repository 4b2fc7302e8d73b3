#pragma once

// A `.vyre` file that is a test: its first lines state the mode, comments state the expected
// results. tests/README.md has the format. The text-test runner and `vyre certify` use this parser;
// only the command line knows the flags of a `// run:` line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace vyre::lab {

struct TextTest {
  std::string path;
  std::string text;
  std::vector<std::string> lines;               // of `text`, without newlines
  std::string mode;                             // "" if none is named
  std::vector<std::vector<std::string>> flags;  // words of each `// flags:` line of the header
};

/// Splits the text into lines; cannot fail.
TextTest read_text_test(std::string path, std::string text);

enum class Expect : uint8_t {
  Out,
  Traps,
  Fails,  // of a run
  Plan,
  Elided,
  Reused,
  Cleared,
  Refused  // of a plan, in mode `plan` only
};
constexpr bool is_of_plan(Expect e) { return e >= Expect::Plan; }

struct Expectation {
  Expect kind = Expect::Out;
  size_t line = 0;   // index into TextTest::lines
  size_t lines = 1;  // of the expectation, continuations included
  std::string text;  // after the colon
};

/// A `// run:` line and its expectations.
struct RunBlock {
  size_t line = 0;       // of `// run:`
  size_t insert_at = 0;  // position of expectations: after the run line and its continuations
  std::vector<std::string> words;  // after the colon, split as by a shell
  bool schedule_dependent = false;
  std::vector<Expectation> expectations;
};

/// All blocks; errors go to `failures`. `plans`: with expectations about plans.
std::vector<RunBlock> read_run_blocks(const std::vector<std::string>& lines,
                                      std::vector<std::string>& failures, bool plans = false);

/// The rest of a line after `// key:`, trimmed; nothing for another line.
std::optional<std::string_view> after_key(std::string_view line, std::string_view key);

std::string_view trimmed(std::string_view text);

/// Splits words as a shell does: at spaces, but not within quotes.
std::vector<std::string> split_words(std::string_view text);

std::vector<std::string> split_lines(const std::string& text);
std::string join_lines(const std::vector<std::string>& lines);

/// Diagnostics as a report shows them: one per line, with code and source location.
std::string brief(const Diagnostics& list);

}  // namespace vyre::lab
