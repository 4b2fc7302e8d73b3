#pragma once

// Programs for the tests of the optimizer, from text.

#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "text/parse.h"

namespace vyre::opt {

/// The only kernel of the text; a failure of the test if it is not legal.
inline Program program_of(const std::string& text) {
  ParseOptions options;
  options.trusted = true;
  const ParseOutcome outcome = parse(text, options);
  EXPECT_TRUE(outcome.module) << render(outcome.diagnostics, outcome.sources);
  if (!outcome.module || outcome.module->kernels.empty()) return {};
  const Program& program = outcome.module->kernels.front();
  const Diagnostics problems = check(program);
  EXPECT_FALSE(has_errors(problems)) << render(problems, outcome.sources);
  return program;
}

}  // namespace vyre::opt
