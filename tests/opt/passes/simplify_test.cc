// The time that simplify takes. tests/text/pass/simplify.vyre shows what it does; the rules are
// proved in simplify_proof_test.cc and simplify_cases_test.cc.
#include "opt/passes/simplify.h"

#include <gtest/gtest.h>

#include "tests/opt/pass_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::opt {
namespace {

std::string kernel(const std::string& body) {
  return "kernel k(x: in u32[], n: u32, m: i32, f: f32, b: inout u32[], y: out u32[], z: out "
         "i32[], g: out f32[])"
         " workgroup(64) grid(len(x)) {\n" +
         body + "\n}\n";
}

TEST(Simplify, is_linear_and_fast) {
  const auto milliseconds = [](int lines) {
    std::string body = "var v = n\n";
    for (int i = 0; i < lines; ++i)
      body += "v = ((v + " + std::to_string(i) + ") * 8 ^ x[v]) & (v | 7)\n";
    const Program p = program_of(kernel(body + "y[0] = v"));
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      Program copy = p;
      Facts facts(copy);
      const Target target;
      PassContext context{facts, target, {}, 0, false};
      facts.ranges();
      const double begin = cpu_seconds();
      EXPECT_TRUE(*simplify(copy, context));
      best = std::min(best, (cpu_seconds() - begin) * 1e3);
    }
    std::printf("%zu ops: %.3f ms\n", count_ops(p), best);
    return best;
  };
  milliseconds(10);  // the table is parsed
  EXPECT_LT(milliseconds(100), 3.0 * 10) << "a machine that is busy gets ten times as long";
  const double large = milliseconds(800), larger = milliseconds(3200);
  EXPECT_LT(larger, large * 4 * 4);
}

}  // namespace
}  // namespace vyre::opt
