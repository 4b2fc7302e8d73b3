#include "tests/runner/test_file.h"

#include <fmt/format.h>

#include "support/file.h"
#include "tools/vyre/command_line.h"

namespace vyre::runner {
namespace {

void read_flags(const std::vector<std::string>& flags, TestFile& test, Verdict& verdict) {
  auto parsed = cli::parse_launch_line(flags);
  if (!parsed) return verdict.fail("flags: " + brief(parsed.errors()));
  auto constants = cli::parse_constants(parsed->flags.constants);
  if (!constants) return verdict.fail("flags: " + brief(constants.errors()));
  test.load.constants = std::move(*constants);
  test.load.check.exact = parsed->flags.exact;
}

}  // namespace

std::optional<TestFile> read_test_file(const std::string& path, Verdict& verdict) {
  FileContents contents = read_file(path);
  if (!contents) {
    verdict.fail(contents.error->what);
    return std::nullopt;
  }
  TestFile test;
  static_cast<lab::TextTest&>(test) = lab::read_text_test(path, std::move(contents.bytes));
  for (const auto& flags : test.flags) read_flags(flags, test, verdict);
  if (test.mode.empty()) verdict.fail("no `// test: MODE` in the first lines");
  if (!verdict.failures.empty()) return std::nullopt;
  return test;
}

}  // namespace vyre::runner
