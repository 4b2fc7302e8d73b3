// The sanitizer finds neither races nor order-dependent values in generated programs. The schedules
// of the interpreter run lanes in lock step and would not detect a missing barrier.

#include <gtest/gtest.h>

#include "generate/generate.h"
#include "sanitizer/sanitizer.h"
#include "text/print.h"

namespace vyre::lab {
namespace {

interp::Sanitized sanitize(const Generated& g) {
  if (!g.is_graph()) return interp::sanitize(g.module.kernels[0], g.inputs);
  return interp::sanitize(g.module, g.module.graphs[0], {g.inputs.data, g.inputs.lengths});
}

TEST(Races, generated_programs_have_none) {
  for (uint64_t seed = 50'000; seed < 51'500; ++seed) {
    const Generated g = generate(seed);
    const interp::Sanitized s = sanitize(g);
    for (const Diagnostic& d : s.findings)
      ASSERT_TRUE(d.severity != Severity::Error && d.code != Code::OrderDependent &&
                  d.code != Code::OldValueOrder)
          << "seed " << seed << ": " << d.message << "\n"
          << print(g.module);
    for (const Diagnostic& d : s.errors)
      ASSERT_EQ(d.code, Code::Trapped) << "seed " << seed << ": " << d.message;
  }
}

TEST(Races, a_barrier_taken_out_is_a_race) {
  // Programs whose sections need their barriers: without them the sanitizer must find something.
  uint64_t programs = 0, racy = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Generated g = generate(seed, {.graphs = false, .grid_barriers = false});
    Program& p = g.module.kernels[0];
    std::vector<OpId> barriers;
    walk(p, [&](OpId op) {
      if (p.op(op).code == Opcode::Barrier) barriers.push_back(op);
    });
    if (barriers.empty() || p.workgroup[0] * p.workgroup[1] * p.workgroup[2] == 1) continue;
    for (const OpId op : barriers) p.unlink(op);
    compact(p);
    ++programs;
    racy += has_errors(sanitize(g).findings);
  }
  EXPECT_GT(programs, 80u);
  EXPECT_GT(racy * 100, programs * 50) << racy << " of " << programs;
}

}  // namespace
}  // namespace vyre::lab
