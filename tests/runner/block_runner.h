#pragma once

// The `// run:` blocks of a test file: the runs and their expectations.

#include <string>
#include <vector>

#include "tests/runner/test_file.h"
#include "tools/vyre/command_line.h"

namespace vyre::runner {

using lab::Expect;
using lab::Expectation;

struct RunBlock : lab::RunBlock {
  cli::NamedLaunch launch;
};

/// All blocks; what cannot be understood goes to `verdict`. `plans`: with what is expected of
/// plans.
std::vector<RunBlock> read_run_blocks(const TestFile& test, Verdict& verdict, bool plans = false);

}  // namespace vyre::runner
