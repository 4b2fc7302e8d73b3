// Integers without 64 bits, and bits without bit operations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;
using enum Type;

void expect_exact(Opcode code, Type type, const std::vector<Type>& operands,
                  std::string_view words) {
  const Program p = op_program(code, type, operands);
  const Profile profile = profile_of(words);
  const std::string what =
      fmt::format("{} {} from {} on \"{}\"", mnemonic(code), name(type), name(operands[0]), words);
  ASSERT_EQ(judge(p, op_inputs(p, corner_operands(operands)), profile), "") << what;
  uint64_t left = random_cases();
  for (uint64_t seed = 1; left > 0; ++seed) {
    const uint64_t n = std::min<uint64_t>(left, 100'000);
    ASSERT_EQ(judge(p, op_inputs(p, random_operands(operands, code, n, seed)), profile), "")
        << what;
    left -= n;
  }
}

TEST(exact_integers, pairs_instead_of_64_bits) {
  for (const char* words : {"-int64", "weak"})
    for (const Type t : {I64, U64}) {
      for (const Opcode code : {Add, Sub, Mul,  Min,  Max, MulHi, SatAdd, SatSub, And, Or, Xor,
                                Shl, Shr, RotL, RotR, Eq,  Ne,    Lt,     Le,     Gt,  Ge})
        expect_exact(code, t, {t, t}, words);
      for (const Opcode code : {Abs, Not, Clz, Ctz, PopCount, ReverseBits})
        expect_exact(code, t, {t}, words);
      expect_exact(Clamp, t, {t, t, t}, words);
      expect_exact(Select, t, {Bool, t, t}, words);
      expect_exact(Extract, t, {t, U32, U32}, words);
      expect_exact(Insert, t, {t, t, U32, U32}, words);
    }
  expect_exact(Neg, I64, {I64}, "-int64");
}

TEST(exact_integers, division_of_pairs) {
  for (const Type t : {I64, U64})
    for (const Opcode code : {Div, Rem, CeilDiv}) expect_exact(code, t, {t, t}, "-int64");
  expect_exact(Div, U64, {U64, U64}, "weak");
}

TEST(exact_integers, conversions_of_pairs) {
  for (const Type t : {I64, U64}) {
    for (const Type other : {Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32}) {
      expect_exact(Cast, t, {other}, "-int64");
      expect_exact(Cast, other, {t}, "-int64");
    }
    expect_exact(Cast, t, {F32}, "weak");
    expect_exact(Cast, F32, {t}, "weak");
    expect_exact(Bitcast, t, {t == I64 ? U64 : I64}, "-int64");
  }
}

TEST(exact_integers, bit_operations_from_shifts) {
  for (const Type t : {I8, U8, I16, U16, I32, U32, I64, U64}) {
    for (const Opcode code : {Clz, Ctz, PopCount, ReverseBits}) expect_exact(code, t, {t}, "-bits");
    expect_exact(Extract, t, {t, U32, U32}, "-bits");
    expect_exact(Insert, t, {t, t, U32, U32}, "-bits");
  }
}

TEST(exact_integers, every_float_op_with_pairs_and_without_bits) {
  for (const Opcode code : {Add, Sub, Mul, Div, Min, Max, Lt, Eq})
    expect_exact(code, F32, {F32, F32}, "weak");
  for (const Opcode code : {Sqrt, Rsqrt, Neg, Abs, Floor, Round, IsNan})
    expect_exact(code, F32, {F32}, "weak");
  expect_exact(Fma, F32, {F32, F32, F32}, "weak");
  for (const Type t : {I8, U8, I16, U16, I32, U32, Bool}) {
    expect_exact(Cast, t, {F32}, "weak");
    expect_exact(Cast, F32, {t}, "weak");
  }
}

}  // namespace
}  // namespace vyre::emit_exact
