// Comparisons, minimum and maximum with constants on both sides, for devices that compare wrong.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "legalize/expand.h"
#include "legalize/float_format.h"
#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;
using enum Type;

constexpr Opcode comparisons[] = {Eq, Ne, Lt, Le, Gt, Ge};

std::vector<uint64_t> constants(Type t) {
  const Shape s = shape_of(t);
  const uint64_t one = s.bias << s.fraction;
  std::vector<uint64_t> list = {0,   1,       s.leading - 1,  s.leading,  s.leading + 1,
                                one, one + 7, s.infinity - 1, s.infinity, s.nan};
  for (size_t i = list.size(); i-- > 0;) list.push_back(list[i] | s.sign);
  return list;
}

/// Right for every constant, on either side. Gives how often the op itself is right on the device.
uint32_t expect_exact(Opcode code, Type type, const char* words) {
  const Profile profile = profile_of(words);
  uint32_t harmless = 0;
  for (const uint64_t bits : constants(type))
    for (const bool first : {false, true}) {
      const Program p = op_program(code, type, {type}, Fixed{bits, first});
      bool differs = false, corner_differs = false;
      const std::string what = fmt::format("{} {} with {:#x} {} on \"{}\"", mnemonic(code),
                                           name(type), bits, first ? "first" : "last", words);
      EXPECT_EQ(judge(p, op_inputs(p, corner_operands({type})), profile, &corner_differs), "")
          << what;
      const auto random = random_operands({type}, code, random_cases() / 10, bits);
      EXPECT_EQ(judge(p, op_inputs(p, random), profile, &differs), "") << what;
      harmless += !differs && !corner_differs;
    }
  return harmless;
}

TEST(exact_compare, with_constants_is_right_on_every_device) {
  for (const Opcode code : comparisons) {
    // Against a normal number, an infinity or NaN nothing can go wrong. (Nor is anything flushed
    // that lies beyond the largest subnormal.)
    const uint32_t harmless = code == Eq || code == Ne ? 28 : 30;
    EXPECT_EQ(expect_exact(code, F32, "-compare32"), harmless) << mnemonic(code);
    EXPECT_EQ(expect_exact(code, F32, "-choose32"), harmless) << mnemonic(code);
    EXPECT_EQ(expect_exact(code, F32, "nvidia"), harmless) << mnemonic(code);
    EXPECT_EQ(expect_exact(code, F32, "-compare32 -compare_normal32"), 0u) << mnemonic(code);
    EXPECT_EQ(expect_exact(code, F64, "-compare64"), harmless) << mnemonic(code);
  }
}

TEST(exact_compare, minimum_and_maximum_with_constants) {
  for (const Opcode code : {Min, Max}) {
    for (const char* words : {"-min_max32", "-min_max32 -compare32", "-min_max32 -choose32",
                              "-min_max32 -compare32 -compare_normal32"})
      EXPECT_LT(expect_exact(code, F32, words), 40u) << words;
    EXPECT_LT(expect_exact(code, F64, "-min_max64 -compare64"), 40u);
  }
}

/// True if legalization keeps the op.
bool stays(Opcode code, Type type, uint64_t bits, const char* words) {
  const auto expanded = expand(op_program(code, type, {type}, Fixed{bits}), profile_of(words));
  EXPECT_TRUE(expanded);
  bool found = false;
  if (expanded)
    walk(*expanded, [&](OpId id) {
      const Op& o = expanded->op(id);
      found = found || (o.code == code && o.operands.count == 2 &&
                        expanded->type(expanded->operand(id, 0)) == type);
    });
  return found;
}

TEST(exact_compare, is_native_with_constants_that_flushing_cannot_touch) {
  const Shape s = shape_of(F32);
  for (const Opcode code : {Lt, Le, Gt, Ge})
    for (const uint64_t bits : constants(F32)) {
      const uint64_t magnitude = bits & s.magnitude;
      const bool large = magnitude >= s.leading && magnitude <= s.infinity;
      for (const char* words : {"-compare32", "-choose32", "nvidia", "swiftshader"})
        EXPECT_EQ(stays(code, F32, bits, words), large) << fmt::format("{:#x} on {}", bits, words);
      for (const char* words : {"-compare32 -compare_normal32", "weak"})
        EXPECT_FALSE(stays(code, F32, bits, words)) << words;
    }
  EXPECT_FALSE(stays(Lt, F64, 0x3ffull << 52, "-compare64"));
}

}  // namespace
}  // namespace vyre::emit_exact
