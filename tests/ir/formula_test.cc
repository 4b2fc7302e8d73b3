#include "ir/formula.h"

#include <gtest/gtest.h>

namespace vyre {
namespace {

struct Formulas : testing::Test {
  FormulaPool pool;
  __int128 length = 10, value = 3;
  FormulaEnv env{[&](uint32_t) { return length; }, [&](uint32_t) { return value; },
                 [](uint32_t i) { return std::string(i == 0 ? "x" : "n"); }};

  std::string text(FormulaId f) { return print(pool, f, env.name); }
  uint64_t eval(FormulaId f) {
    const auto r = evaluate(pool, f, env, "length of `y`");
    EXPECT_TRUE(r) << r.errors()[0].message;
    return r ? *r : ~0ull;
  }
  std::string error(FormulaId f) {
    const auto r = evaluate(pool, f, env, "length of `y`");
    EXPECT_FALSE(r);
    return r ? "" : render(r.errors(), {});
  }
};

TEST_F(Formulas, print_as_source_with_few_parentheses) {
  const FormulaId x = pool.len(0), n = pool.scalar(1), c = pool.constant(256);
  EXPECT_EQ(text(pool.binary(FormulaOp::CeilDiv, x, c)), "ceil_div(len(x), 256)");
  EXPECT_EQ(text(pool.binary(FormulaOp::Mul, pool.binary(FormulaOp::Add, x, c), n)),
            "(len(x) + 256) * n");
  EXPECT_EQ(text(pool.binary(FormulaOp::Sub, x, pool.binary(FormulaOp::Sub, n, c))),
            "len(x) - (n - 256)");
  EXPECT_EQ(text(pool.binary(FormulaOp::Add, x, pool.binary(FormulaOp::Mul, n, c))),
            "len(x) + n * 256");
  EXPECT_EQ(text(pool.binary(FormulaOp::Min, x, pool.binary(FormulaOp::Max, n, c))),
            "min(len(x), max(n, 256))");
}

TEST_F(Formulas, fold_constants_so_that_sizes_of_arrays_are_known) {
  uint64_t v = 0;
  EXPECT_TRUE(
      pool.is_constant(pool.binary(FormulaOp::Mul, pool.constant(16), pool.constant(17)), &v));
  EXPECT_EQ(v, 272u);
  EXPECT_FALSE(
      pool.is_constant(pool.binary(FormulaOp::Sub, pool.constant(1), pool.constant(2)), &v));
}

TEST_F(Formulas, are_exact_beyond_64_bits_on_the_way) {
  const FormulaId big = pool.constant(1ull << 63);
  const FormulaId product =
      pool.binary(FormulaOp::Mul, pool.binary(FormulaOp::Mul, pool.len(0), big), pool.constant(2));
  EXPECT_EQ(eval(pool.binary(FormulaOp::Div, product, big)), 20u);
  EXPECT_EQ(eval(pool.binary(FormulaOp::Rem, pool.len(0), pool.scalar(1))), 1u);
  EXPECT_EQ(eval(pool.binary(FormulaOp::CeilDiv, pool.len(0), pool.scalar(1))), 4u);
  EXPECT_EQ(
      eval(pool.binary(FormulaOp::Max, pool.binary(FormulaOp::Sub, pool.scalar(1), pool.len(0)),
                       pool.constant(0))),
      0u);
}

TEST_F(Formulas, that_fail_show_themselves_and_their_values) {
  const std::string negative = error(pool.binary(FormulaOp::Sub, pool.scalar(1), pool.len(0)));
  EXPECT_NE(negative.find("V0450"), std::string::npos);
  EXPECT_NE(negative.find("`n - len(x)`"), std::string::npos) << negative;
  EXPECT_NE(negative.find("len(x) = 10"), std::string::npos) << negative;
  EXPECT_NE(negative.find("negative (-7)"), std::string::npos) << negative;
  value = 0;
  EXPECT_NE(error(pool.binary(FormulaOp::Div, pool.len(0), pool.scalar(1))).find("divides by zero"),
            std::string::npos);
  EXPECT_NE(error(pool.binary(FormulaOp::Rem, pool.len(0), pool.scalar(1))).find("divides by zero"),
            std::string::npos);
  length = ~0ull;
  FormulaId f = pool.len(0);
  for (int i = 0; i < 3; ++i) f = pool.binary(FormulaOp::Mul, f, pool.len(0));
  EXPECT_NE(error(f).find("overflows"), std::string::npos);
  EXPECT_NE(error(pool.binary(FormulaOp::Add, pool.len(0), pool.constant(1))).find("too large"),
            std::string::npos);
}

}  // namespace
}  // namespace vyre
