// Which ops have out-of-line expansions. judge_util.h compares their results, as those of all
// expansions.

#include <gtest/gtest.h>

#include <set>

#include "check/check.h"
#include "legalize/expand.h"
#include "tests/legalize/forms_util.h"
#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;
constexpr Type F = Type::F32, D = Type::F64;

size_t calls(Opcode code, Type type, size_t operands, const char* words) {
  const Program p = op_program(code, type, std::vector<Type>(operands, type));
  const auto expanded = expand(p, profile_of(words), 0, true);
  EXPECT_TRUE(expanded) << words;
  return expanded ? marked_ops(*expanded) : 0;
}

TEST(exact_forms, long_ones_are_functions) {
  for (const char* words : {"nvidia", "lavapipe", "swiftshader", "-fma32 -fused32"})
    EXPECT_EQ(calls(Fma, F, 3, words), 1u) << words;
  for (const char* words : {"swiftshader", "-add32 -mul32", "weak"})
    for (const Opcode code : {Add, Sub, Mul}) EXPECT_EQ(calls(code, F, 2, words), 1u) << words;
  EXPECT_EQ(calls(Div, F, 2, "-div32 -float64"), 1u);
  EXPECT_EQ(calls(Div, F, 2, "-div32 -narrow"), 1u);
  EXPECT_EQ(calls(Sqrt, F, 1, "nvidia"), 1u);
  EXPECT_EQ(calls(Rsqrt, F, 1, "swiftshader"), 2u) << "a root and a quotient";
  for (const Opcode code : {Add, Sub, Mul, Div})
    EXPECT_EQ(calls(code, D, 2, "-add64 -mul64 -div64"), 1u);
  EXPECT_EQ(calls(Fma, D, 3, "lavapipe"), 1u);
}

TEST(exact_forms, short_and_native_ones_are_not) {
  EXPECT_EQ(calls(Div, F, 2, "-div32"), 0u);
  EXPECT_EQ(calls(Sqrt, F, 1, "-sqrt32"), 0u);
  EXPECT_EQ(calls(Floor, F, 1, "swiftshader"), 0u);
  EXPECT_EQ(calls(Lt, F, 2, "swiftshader"), 0u);
  EXPECT_EQ(calls(Add, F, 2, "nvidia"), 0u);
}

TEST(exact_forms, sums_and_differences_have_one) {
  const Program p = op_program(Sub, D, {D, D});
  const auto expanded = expand(p, profile_of("-add64"), 0, true);
  ASSERT_TRUE(expanded);
  walk(*expanded, [&](OpId id) { EXPECT_NE(expanded->op(id).code, Sub); });
}

TEST(exact_forms, marks_are_those_of_the_table_and_the_checker_rejects_them) {
  std::set<OpMark> found;
  for (const char* words : {"nvidia", "swiftshader", "weak"}) {
    const auto expanded = expand(op_program(Fma, F, {F, F, F}), profile_of(words), 0, true);
    ASSERT_TRUE(expanded) << words;
    size_t marks = 0;
    const Program quotient =
        expand_integers(op_program(Div, Type::I32, {Type::I32, Type::I32}), {});
    for (const Program& p : {*expanded, form(Fma, F, profile_of(words)), quotient})
      walk(p, [&](OpId id) {
        const Op& o = p.op(id);
        if (info(o.code).attribute != AttrKind::None || o.attr == 0) return;
        EXPECT_TRUE(has_mark(o, OpMark(o.attr))) << info(o.code).name << " " << o.attr;
        found.insert(OpMark(o.attr));
        ++marks;
      });
    EXPECT_GT(marks, 0u) << words;
    EXPECT_TRUE(has_errors(check(*expanded))) << words;
    EXPECT_FALSE(has_errors(check(without_marks(*expanded)))) << words;
  }
  EXPECT_EQ(found,
            (std::set{OpMark::AnyNan, OpMark::ByFunction, OpMark::MayFlush, OpMark::InRange}));
}

TEST(exact_forms, ops_with_marks_have_no_other_attribute) {
  for (const OpInfo& row : all_ops())
    EXPECT_TRUE(row.marks == 0 || row.attribute == AttrKind::None) << row.name;
}

}  // namespace
}  // namespace vyre::emit_exact
