#pragma once

// Running one pass on one program, for tests of passes.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "opt/analysis/analysis_cache.h"
#include "opt/pass.h"
#include "tests/opt/program_util.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre::opt {

struct PassResult {
  Program program;
  bool changed = false;
  uint64_t refused = 0;
  std::vector<Refusal> refusals;
};

/// Runs the pass, checks that the program is legal and that "unchanged" is true.
inline PassResult run_once(PassFunction pass, const Program& before) {
  PassResult result{before, false, 0, {}};
  Facts facts(result.program);
  const Target target;
  PassContext context{facts, target, {}, 0, false};
  const auto changed = pass(result.program, context);
  EXPECT_TRUE(changed);
  result.changed = changed && *changed;
  result.refused = context.refused;
  result.refusals = context.refusals;
  const Diagnostics problems = check(result.program);
  EXPECT_FALSE(has_errors(problems)) << print(before) << "\nbecame\n" << print(result.program);
  EXPECT_EQ(result.changed, fingerprint(before) != fingerprint(result.program))
      << print(result.program);
  return result;
}

/// The same, and that a second run finds nothing more.
inline PassResult run_pass(PassFunction pass, const Program& before) {
  PassResult result = run_once(pass, before);
  EXPECT_FALSE(run_once(pass, result.program).changed) << "not idempotent:\n"
                                                       << print(result.program);
  return result;
}
inline PassResult run_pass(PassFunction pass, const std::string& text) {
  return run_pass(pass, program_of(text));
}

inline size_t count(const Program& p, Opcode code) {
  size_t n = 0;
  walk(p, [&](OpId op) { n += p.op(op).code == code; });
  return n;
}
inline size_t count_ops(const Program& p) {
  size_t n = 0;
  walk(p, [&](OpId) { ++n; });
  return n;
}

}  // namespace vyre::opt
