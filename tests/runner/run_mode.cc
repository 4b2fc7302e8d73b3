// Mode run: every block in every order, and again from the printed and the encoded program.

#include <fmt/format.h>

#include "tests/runner/block_runner.h"
#include "tests/runner/run_observation.h"
#include "tests/runner/test_file.h"
#include "tests/runner/transport_mode.h"

namespace vyre::runner {
namespace {

Observation failed(const Diagnostics& errors) {
  Observation o;
  o.errors = errors;
  return o;
}

Observation run_once(const cli::Target& target, const cli::LaunchFlags& flags) {
  const auto launch = cli::bind_launch(flags, target);
  if (!launch) return failed(launch.errors());
  return observe(target, cli::execute(target, *launch));
}

class BlockTest {
 public:
  BlockTest(const TestFile& test, const RunBlock& block, Verdict& verdict)
      : test_(test), block_(block), verdict_(verdict) {}

  Observation run() {
    const Observation first = observe_all();
    if (block_.expectations.empty())
      fail("no `// out:`, `// traps:` or `// fails:` says what is expected");
    for (const Expectation& e : block_.expectations)
      if (const std::string m = mismatch(e, first); !m.empty()) fail(m, e.line);
    return first;
  }

 private:
  Observation observe_all() {
    cli::LoadOptions options = test_.load;
    const cli::LaunchFlags& flags = block_.launch.flags;
    if (flags.exact) options.check.exact = true;
    auto constants = cli::parse_constants(flags.constants);
    if (!constants) return failed(constants.errors());
    options.constants.merge(*constants);
    const auto loaded = cli::load_module_bytes(test_.text, test_.path, options);
    if (!loaded.module) {
      Diagnostics errors;
      for (const Diagnostic& d : loaded.diagnostics)
        if (d.severity == Severity::Error) errors.push_back(d);
      return failed(errors);
    }
    const auto target = cli::choose_target(loaded, block_.launch.name, test_.path);
    if (!target) return failed(target.errors());

    const Observation first = run_once(*target, flags);
    other_schedules(*target, first);
    other_form(*loaded.module, *target, first, "after print and parse", through_text);
    other_form(*loaded.module, *target, first, "after encode and decode", through_wire);
    return first;
  }

  void other_schedules(const cli::Target& target, const Observation& first) {
    if (block_.schedule_dependent || !block_.launch.flags.schedule.empty()) return;
    for (const char* schedule : {"reverse", "random:1"}) {
      cli::LaunchFlags flags = block_.launch.flags;
      flags.schedule = schedule;
      if (const std::string d = difference(first, run_once(target, flags)); !d.empty())
        fail(fmt::format("with --schedule {}: {}", schedule, d));
    }
  }

  void other_form(const Module& module, const cli::Target& target, const Observation& first,
                  const std::string& how, Result<Module> (*transport)(const Module&)) {
    const auto other = transport(module);
    if (!other)
      return fail(fmt::format("{}: the result cannot be read:\n{}", how, brief(other.errors())));
    const auto other_target = cli::choose_target(*other, target.name());
    if (!other_target) return fail(fmt::format("{}: `{}` is gone", how, target.name()));
    if (const std::string d = difference(first, run_once(*other_target, block_.launch.flags));
        !d.empty())
      fail(fmt::format("{}: {}", how, d));
  }

  void fail(const std::string& what, std::optional<size_t> line = {}) {
    verdict_.fail(fmt::format("line {}: {}", line.value_or(block_.line) + 1, what));
  }

  const TestFile& test_;
  const RunBlock& block_;
  Verdict& verdict_;
};

/// The file with each block's expectations replaced.
std::string bless(const TestFile& test, const std::vector<RunBlock>& blocks,
                  const std::vector<Observation>& observations) {
  std::vector<bool> dropped(test.lines.size());
  std::vector<std::vector<std::string>> inserted(test.lines.size() + 1);
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const Expectation& e : blocks[b].expectations)
      for (size_t i = 0; i < e.lines; ++i) dropped[e.line + i] = true;
    inserted[blocks[b].insert_at] = expected_lines(blocks[b].expectations, observations[b]);
  }
  std::vector<std::string> lines;
  for (size_t i = 0; i <= test.lines.size(); ++i) {
    lines.insert(lines.end(), inserted[i].begin(), inserted[i].end());
    if (i < test.lines.size() && !dropped[i]) lines.push_back(test.lines[i]);
  }
  return join_lines(lines);
}

}  // namespace

Verdict test_run(const TestFile& test) {
  Verdict verdict;
  const auto blocks = read_run_blocks(test, verdict);
  if (!verdict.failures.empty()) return verdict;
  std::vector<Observation> observations;
  for (const RunBlock& block : blocks)
    observations.push_back(BlockTest(test, block, verdict).run());
  if (!verdict.failures.empty()) verdict.blessed = bless(test, blocks, observations);
  return verdict;
}

}  // namespace vyre::runner
