// Mode sanitize: findings of the sanitizer in every block, in every order, marked on their lines.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/runner/block_runner.h"
#include "tests/runner/markers.h"
#include "tests/runner/run_observation.h"
#include "tools/vyre/sanitize_command.h"

namespace vyre::runner {
namespace {

bool is_finding(const Diagnostic& d) {
  const auto number = static_cast<unsigned>(d.code);
  return (number >= 551 && number <= 559) || d.code == Code::OldValueOrder;
}

struct Seen {
  Diagnostics findings;
  Diagnostics errors;  // of the run
};

/// The parts of findings that two runs must agree on: code, line, and the lines of the notes. The
/// named invocations and the number of occurrences may differ.
std::multiset<std::string> outline(const Diagnostics& list) {
  std::multiset<std::string> lines;
  for (const Diagnostic& d : list) {
    std::string text = fmt::format("{} at line {}", to_string(d.code), d.place.line);
    for (const Note& n : d.notes)
      if (n.place.line != 0) text += fmt::format(", {}", n.place.line);
    lines.insert(std::move(text));
  }
  return lines;
}

class BlockTest {
 public:
  BlockTest(const TestFile& test, const RunBlock& block, Verdict& verdict)
      : test_(test), block_(block), verdict_(verdict) {}

  Diagnostics run() {
    const Seen first = sanitize(block_.launch.flags);
    if (!block_.schedule_dependent && block_.launch.flags.schedule.empty())
      for (const char* schedule : {"reverse", "random:1", "random:2"}) {
        cli::LaunchFlags flags = block_.launch.flags;
        flags.schedule = schedule;
        const Seen other = sanitize(flags);
        if (outline(other.findings) != outline(first.findings))
          fail(fmt::format("other findings with --schedule {}:\n{}\nwithout it:\n{}", schedule,
                           brief(other.findings), brief(first.findings)));
      }
    Observation o;
    o.errors = first.errors;
    bool expected = false;
    for (const Expectation& e : block_.expectations) {
      if (e.kind == Expect::Out) {
        fail("the sanitizer has no outputs; `fails:` and `traps:` can be expected of the run");
        continue;
      }
      expected = true;
      if (const std::string m = mismatch(e, o); !m.empty()) fail(m);
    }
    if (!expected && !o.errors.empty()) fail("the run failed:\n" + brief(o.errors));
    return first.findings;
  }

 private:
  Seen sanitize(const cli::LaunchFlags& flags) {
    Seen seen;
    cli::LoadOptions options = test_.load;
    if (flags.exact) options.check.exact = true;
    auto constants = cli::parse_constants(flags.constants);
    if (!constants) return {{}, constants.errors()};
    options.constants.merge(*constants);
    const auto loaded = cli::load_module_bytes(test_.text, test_.path, options);
    if (!loaded.module) return {{}, loaded.diagnostics};
    for (Diagnostic& d : cli::sanitize_module(loaded, block_.launch.name, test_.path, flags))
      (is_finding(d) ? seen.findings : seen.errors).push_back(std::move(d));
    return seen;
  }

  void fail(const std::string& what) {
    verdict_.fail(fmt::format("line {}: {}", block_.line + 1, what));
  }

  const TestFile& test_;
  const RunBlock& block_;
  Verdict& verdict_;
};

}  // namespace

Verdict test_sanitize(const TestFile& test) {
  Verdict verdict;
  const auto blocks = read_run_blocks(test, verdict);
  const auto markers = read_markers(test, verdict);
  const bool clean = std::any_of(test.lines.begin(), test.lines.end(), [](const std::string& line) {
    return trimmed(line) == "// clean";
  });
  if (clean != markers.empty())
    verdict.fail(clean ? "`// clean`, but there are markers"
                       : "neither `// clean` nor a `//!` or `//?` says what is expected");
  if (!verdict.failures.empty() && blocks.empty()) return verdict;
  // Findings of all blocks together; a finding of several blocks counts once.
  Diagnostics all;
  std::set<std::string> known;
  for (const RunBlock& block : blocks)
    for (Diagnostic& d : BlockTest(test, block, verdict).run())
      if (known.insert(*outline({d}).begin()).second) all.push_back(std::move(d));
  std::vector<const Diagnostic*> found;
  for (const Diagnostic& d : all) found.push_back(&d);
  compare_with_markers(markers, found, test, true, verdict);
  if (!verdict.failures.empty()) verdict.blessed = bless_markers(test, markers, all, true);
  return verdict;
}

}  // namespace vyre::runner
