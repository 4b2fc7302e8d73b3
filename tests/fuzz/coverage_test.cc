// Every row of the table is generated with every type that it allows, and no feature of the
// generator is dead.

#include "fuzz/coverage.h"

#include <gtest/gtest.h>

namespace vyre::lab {
namespace {

TEST(Coverage, every_operation_is_generated_with_every_type_of_its_row) {
  Coverage coverage;
  for (uint64_t seed = 0; seed < 8000; ++seed) coverage.add(generate(seed));
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& row = all_ops()[i];
    for (int t = 0; t < type_count; ++t) {
      const auto type = static_cast<Type>(t);
      if (!contains(row.types, type)) continue;
      EXPECT_GT(coverage.count(static_cast<Opcode>(i), type), 0u)
          << row.mnemonic << " of " << name(type) << " is never generated";
    }
  }
}

struct Share {
  std::string_view feature;
  double least, most;  // per cent of the programs
};

// Loose enough for changes of taste, tight enough to see that something is gone or has taken over.
constexpr Share shares[] = {{"loop", 60, 98},
                            {"nested loop", 20, 80},
                            {"while", 30, 80},
                            {"if", 60, 98},
                            {"break", 12, 60},
                            {"continue", 12, 60},
                            {"early return", 8, 50},
                            {"region", 20, 80},
                            {"barrier", 30, 80},
                            {"barrier in loop", 5, 40},
                            {"grid barrier", 4, 30},
                            {"shared", 40, 95},
                            {"private", 30, 95},
                            {"table", 15, 70},
                            {"scratch", 20, 80},
                            {"uniform buffer", 15, 70},
                            {"scalar", 40, 95},
                            {"8/16-bit element", 60, 100},
                            {"f16/bf16", 30, 90},
                            {"atomic", 40, 95},
                            {"shared atomic", 15, 70},
                            {"old value", 25, 90},
                            {"acq_rel", 15, 70},
                            {"subgroup op", 20, 60},
                            {"fixed subgroup", 10, 50},
                            {"uniform_load", 8, 50},
                            {"load_n", 40, 95},
                            {"store_n", 40, 95},
                            {"load_as", 20, 80},
                            {"trap or assert", 4, 30},
                            {"trapped", 0.3, 6},
                            {"graph", 8, 25},
                            {"graph loop", 4, 20},
                            {"graph grid", 2, 15},
                            {"2D/3D", 25, 75},
                            {"odd grid", 50, 95},
                            {"empty grid", 0.2, 3},
                            {"grid at launch", 8, 35},
                            {"length at launch", 35, 90},
                            {"formula", 30, 85},
                            {"all zero", 0, 2}};

TEST(Coverage, every_feature_has_its_share_of_the_programs) {
  Coverage coverage;
  for (uint64_t seed = 20'000; seed < 21'500; ++seed) {
    const Generated g = generate(seed);
    const auto expected = reference(g);
    ASSERT_TRUE(expected) << "seed " << seed << ": " << expected.errors()[0].message;
    coverage.add(g, &*expected);
  }
  ASSERT_EQ(Coverage::feature_names().size(), std::size(shares)) << "a feature without a share";
  for (const Share& s : shares) {
    const auto it = coverage.features().find(s.feature);
    const double n = it == coverage.features().end() ? 0 : static_cast<double>(it->second);
    const double share = 100 * n / static_cast<double>(coverage.programs());
    EXPECT_GE(share, s.least) << s.feature;
    EXPECT_LE(share, s.most) << s.feature;
  }
}

}  // namespace
}  // namespace vyre::lab
