#pragma once

// The `// run:` blocks of a test file: what to run and what is expected of it.

#include <string>
#include <vector>

#include "tests/runner/test_file.h"
#include "tools/vyre/command_line.h"

namespace vyre::runner {

enum class Expect : uint8_t { Out, Traps, Fails };

struct Expectation {
  Expect kind = Expect::Out;
  size_t line = 0;   // index into TestFile::lines
  size_t lines = 1;  // that it takes, continuations included
  std::string text;  // behind the colon
};

struct RunBlock {
  size_t line = 0;       // of `// run:`
  size_t insert_at = 0;  // where expectations go: behind the run line and its continuations
  cli::NamedLaunch launch;
  bool schedule_dependent = false;
  std::vector<Expectation> expectations;
};

/// All blocks; what cannot be understood goes to `verdict`.
std::vector<RunBlock> read_run_blocks(const TestFile& test, Verdict& verdict);

}  // namespace vyre::runner
