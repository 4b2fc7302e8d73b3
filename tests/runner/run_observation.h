#pragma once

// The observable result of a run of the command line.

#include "differential/observation.h"
#include "tests/runner/block_runner.h"
#include "tools/vyre/execute.h"

namespace vyre::runner {

using lab::difference;
using lab::mismatch;
using lab::Observation;
using lab::trap_of;

/// The lines that would make a block with these expectations pass.
std::vector<std::string> expected_lines(const std::vector<Expectation>& before,
                                        const Observation& observation);

Observation observe(const cli::Target& target, const Result<cli::RunResult>& result);

}  // namespace vyre::runner
