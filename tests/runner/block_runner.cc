#include "tests/runner/block_runner.h"

#include <fmt/format.h>

namespace vyre::runner {

std::vector<RunBlock> read_run_blocks(const TestFile& test, Verdict& verdict, bool plans) {
  std::vector<RunBlock> blocks;
  for (lab::RunBlock& read : lab::read_run_blocks(test.lines, verdict.failures, plans)) {
    auto launch = cli::parse_launch_line(read.words);
    if (!launch) verdict.fail(fmt::format("line {}: {}", read.line + 1, brief(launch.errors())));
    RunBlock block{std::move(read), {}};
    if (launch) block.launch = std::move(*launch);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace vyre::runner
