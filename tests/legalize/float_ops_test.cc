// Every float op, expanded for devices that compute it wrongly, on corner-case values.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;

struct Case {
  Opcode code;
  Type type;
  std::vector<Type> operands;
  std::string words;
};

std::string name_of(const Case& c) {
  return fmt::format("{} {} from {} on \"{}\"", mnemonic(c.code), name(c.type), name(c.operands[0]),
                     c.words);
}

/// Expanded right, and the device is bad enough to tell.
void expect_exact(const Case& c) {
  const Program p = op_program(c.code, c.type, c.operands);
  const Profile profile = profile_of(c.words);
  bool differs = false, corner_differs = false;
  EXPECT_EQ(judge(p, op_inputs(p, corner_operands(c.operands)), profile, &corner_differs), "")
      << name_of(c);
  uint64_t left = random_cases();
  for (uint64_t seed = 1; left > 0; ++seed) {
    const uint64_t n = std::min<uint64_t>(left, 100'000);
    bool here = false;
    const auto in = op_inputs(p, random_operands(c.operands, c.code, n, seed));
    const std::string wrong = judge(p, in, profile, &here);
    EXPECT_EQ(wrong, "") << name_of(c);
    if (!wrong.empty()) break;
    differs = differs || here;
    left -= n;
  }
  EXPECT_TRUE(differs || corner_differs)
      << name_of(c) << " is not wrong there: the test cannot fail";
}

constexpr Type F = Type::F32, D = Type::F64;

TEST(exact_floats, signs_and_comparisons_by_integers) {
  for (const Opcode code : {Neg, Abs}) expect_exact({code, D, {D}, "-compare64"});
  for (const Opcode code : {IsNan, IsInf}) {
    expect_exact({code, F, {F}, "-compare32"});
    expect_exact({code, D, {D}, "-compare64"});
  }
  for (const Opcode code : {Eq, Ne, Lt, Le, Gt, Ge}) {
    expect_exact({code, F, {F, F}, "-compare32"});
    expect_exact({code, F, {F, F}, "-choose32"});
    expect_exact({code, D, {D, D}, "-compare64"});
  }
}

TEST(exact_floats, minimum_and_maximum) {
  for (const Opcode code : {Min, Max}) {
    expect_exact({code, F, {F, F}, "-min_max32"});
    expect_exact({code, F, {F, F}, "-min_max32 -compare32"});
    expect_exact({code, D, {D, D}, "-min_max64"});
    expect_exact({code, D, {D, D}, "-min_max64 -compare64"});
  }
  expect_exact({Clamp, F, {F, F, F}, "-min_max32 -compare32"});
  expect_exact({Clamp, F, {F, F, F}, "lavapipe"});
}

TEST(exact_floats, sums_and_products) {
  for (const Opcode code : {Add, Sub, Mul})
    for (const char* words : {"-add32 -mul32", "-add32 -mul32 -normal32", "swiftshader"})
      expect_exact({code, F, {F, F}, words});
  expect_exact({Add, D, {D, D}, "-add64"});
  expect_exact({Sub, D, {D, D}, "-add64"});
  expect_exact({Mul, D, {D, D}, "-mul64"});
}

TEST(exact_floats, quotients) {
  expect_exact({Div, F, {F, F}, "-div32"});
  expect_exact({Div, F, {F, F}, "-div32 -widen -narrow"});
  expect_exact({Div, F, {F, F}, "-div32 -div64"});
  expect_exact({Div, F, {F, F}, "swiftshader"});
  expect_exact({Div, D, {D, D}, "-div64"});
}

TEST(exact_floats, roots) {
  expect_exact({Sqrt, F, {F}, "-sqrt32"});
  expect_exact({Sqrt, F, {F}, "-sqrt32 -widen -narrow"});
  expect_exact({Sqrt, F, {F}, "-sqrt32 -sqrt64"});
  expect_exact({Sqrt, F, {F}, "swiftshader"});
  expect_exact({Sqrt, D, {D}, "-sqrt64 -sqrt32"});
  expect_exact({Rsqrt, F, {F}, "nvidia"});
  expect_exact({Rsqrt, F, {F}, "swiftshader"});
  expect_exact({Rsqrt, D, {D}, "-div64"});
}

TEST(exact_floats, fused_multiply_add) {
  expect_exact({Fma, F, {F, F, F}, "-fma32"});
  expect_exact({Fma, F, {F, F, F}, "-fma32 -float64"});
  expect_exact({Fma, F, {F, F, F}, "-fma32 -fused32"});
  expect_exact({Fma, F, {F, F, F}, "-fma32 -fused32 -widen -narrow"});
  expect_exact({Fma, F, {F, F, F}, "-fma32 -fused32 -add64"});
  expect_exact({Fma, F, {F, F, F}, "swiftshader"});
  expect_exact({Fma, D, {D, D, D}, "-fma64"});
}

TEST(exact_floats, rounding_to_integers) {
  for (const Opcode code : {Floor, Ceil, Trunc, Round}) {
    expect_exact({code, F, {F}, "-round32"});
    expect_exact({code, D, {D}, "-round64"});
  }
}

TEST(exact_floats, conversions) {
  using enum Type;
  for (const Type t : {I8, U8, I16, U16, I32, U32, I64, U64}) {
    expect_exact({Cast, t, {F}, "-convert32"});
    expect_exact({Cast, t, {D}, "-convert64"});
    if (width_of(t) == 64) expect_exact({Cast, D, {t}, "-convert64"});
    if (width_of(t) >= 32) expect_exact({Cast, F, {t}, "-convert32"});
  }
  expect_exact({Cast, Bool, {F}, "-compare32"});
  expect_exact({Cast, Bool, {F}, "-choose32"});
  expect_exact({Cast, Bool, {D}, "-compare64"});
  expect_exact({Cast, D, {F}, "-widen"});
  expect_exact({Cast, D, {F}, "-widen -add64"});
  expect_exact({Cast, F, {D}, "-narrow"});
  expect_exact({Cast, F, {D}, "-narrow -add64"});
}

}  // namespace
}  // namespace vyre::emit_exact
