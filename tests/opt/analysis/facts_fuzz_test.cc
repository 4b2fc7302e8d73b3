// Facts against the interpreter, on random programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "generate/generate.h"
#include "tests/opt/analysis/facts_judge_util.h"
#include "text/print.h"

namespace vyre::opt {
namespace {

TEST(FactsFuzz, nothing_happens_that_facts_exclude) {
  // VYRE_FACTS_PROGRAMS=20000 for a longer search.
  const char* wish = std::getenv("VYRE_FACTS_PROGRAMS");
  const uint64_t count = wish ? std::strtoull(wish, nullptr, 10) : 2000;
  Judgement all;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const lab::Generated g = lab::generate(seed, {.graphs = false});
    const Judgement j = judge_facts(g.module.kernels[0], g.inputs);
    ASSERT_EQ(j.wrong, "") << "seed " << seed << "\n" << print(g.module);
    all.checks += j.checks;
    all.narrowed += j.narrowed;
    all.bounds += j.bounds;
    all.affine += j.affine;
    all.exact += j.exact;
    all.uniform += j.uniform;
    all.lived += j.lived;
    all.relations += j.relations;
    all.known += j.known;
    all.values += j.values;
  }
  fmt::print(
      "{} checks; {} narrowed, {} in bounds, {} sums ({} exact), {} uniform, {} across barriers, "
      "{} relations; {} of {} values known\n",
      all.checks, all.narrowed, all.bounds, all.affine, all.exact, all.uniform, all.lived,
      all.relations, all.known, all.values);
  // All kinds of facts were there to be wrong.
  for (const uint64_t n :
       {all.narrowed, all.bounds, all.affine, all.exact, all.uniform, all.lived, all.relations})
    EXPECT_GT(n, count);
}

}  // namespace
}  // namespace vyre::opt
