// Integer ops as those that targets have instructions for.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "ir/ssa_builder.h"
#include "legalize/expand.h"
#include "tests/legalize/degrade_util.h"
#include "tests/legalize/forms_util.h"
#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;
using enum Type;

constexpr Type integers[] = {I8, U8, I16, U16, I32, U32, I64, U64};
constexpr IntegerOps ptx = {
    .saturates_i32 = true, .rotates32 = true, .counts64 = true, .remainders = true};
constexpr IntegerOps targets[] = {{}, {.saturates_u64 = true}, ptx};

/// The op's name if no emitter knows it.
std::string unknown(const Program& p, const IntegerOps& native) {
  std::string found;
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    if (!is_pure(o.code) || !is_integer(o.type) || o.operands.count == 0) return;
    const uint32_t width = width_of(o.type);
    const bool rotates = o.code == RotL || o.code == RotR;
    const bool saturates = o.code == SatAdd || o.code == SatSub;
    const bool counts = o.code >= Clz && o.code <= ReverseBits;
    const bool divides = o.code == Div || o.code == Rem;
    const bool keeps_width = (o.code >= Min && o.code <= Clamp && o.code != Abs) || o.code == And ||
                             o.code == Or || o.code == Xor || o.code == Select || o.code == Cast ||
                             o.code == Bitcast;
    if ((width < 32 && !keeps_width) || o.code == CeilDiv || o.code == Extract ||
        o.code == Insert || (divides && !has_mark(o, OpMark::InRange)) ||
        (o.code == Rem && is_signed(o.type) && !native.remainders) ||
        (rotates && !(width == 32 && native.rotates32)) ||
        (saturates && !(o.type == I32 && native.saturates_i32) &&
         !(o.type == U64 && native.saturates_u64)) ||
        (counts && !(width == 32 || native.counts64)))
      found = fmt::format("{} of {}", mnemonic(o.code), name(o.type));
  });
  return found;
}

void expect_exact(const Program& p, const std::vector<std::vector<uint64_t>>& operands,
                  const std::string& what) {
  const LaunchInputs inputs = op_inputs(p, operands);
  const Ran expected = run_on_interpreter(p, inputs);
  ASSERT_EQ(expected.failed, "") << what;
  for (const IntegerOps& native : targets) {
    const Program expanded = expand_integers(p, native);
    for (const Diagnostic& d : check(without_marks(expanded)))
      ASSERT_NE(d.severity, Severity::Error) << what << ": " << d.message;
    ASSERT_EQ(unknown(expanded, native), "") << what;
    ASSERT_EQ(run_on_interpreter(expanded, inputs), expected) << what;
    // Outside of the range of its instructions a target may give anything.
    ASSERT_EQ(run_on_interpreter(degrade(expanded, Profile{}), inputs), expected) << what;
  }
}

void expect_exact(Opcode code, Type type, const std::vector<Type>& operands,
                  std::optional<Fixed> fixed = {}) {
  std::string what = fmt::format("{} {} from {}", mnemonic(code), name(type), name(operands[0]));
  if (fixed) what += fmt::format(" with {:#x}", fixed->bits);
  const Program p = op_program(code, type, operands, fixed);
  expect_exact(p, corner_operands(operands), what);
  expect_exact(p, random_operands(operands, code, 1000, 1), what);
}

TEST(integer_stage, two_operands) {
  for (const Type t : integers)
    for (const Opcode code : {Add, Sub, Mul, Div, Rem, Min, Max, MulHi, SatAdd, SatSub, CeilDiv,
                              Shl, Shr, RotL, RotR, And, Or, Xor})
      expect_exact(code, t, {t, t});
}

TEST(integer_stage, constant_operands) {
  for (const Type t : integers) {
    const uint64_t ones = low_mask(width_of(t)), lowest = ones ^ (ones >> 1);
    for (const Opcode code : {Add, Div, Rem, SatAdd, SatSub, CeilDiv, Shl, Shr, RotL, RotR})
      for (const uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{8}, uint64_t{31},
                                  uint64_t{32}, uint64_t{64}, ones, ones - 2, lowest})
        for (const bool first : {false, true})
          expect_exact(code, t, {t}, Fixed{bits & ones, first});
  }
}

TEST(integer_stage, one_operand) {
  for (const Type t : integers) {
    for (const Opcode code : {Abs, Not, Clz, Ctz, PopCount, ReverseBits})
      expect_exact(code, t, {t});
    if (is_signed(t)) expect_exact(Neg, t, {t});
    expect_exact(Clamp, t, {t, t, t});
  }
}

TEST(integer_stage, fields) {
  for (const Type t : integers) {
    expect_exact(Extract, t, {t, U32, U32});
    expect_exact(Insert, t, {t, t, U32, U32});
  }
}

TEST(integer_stage, floats_to_narrow_integers) {
  for (const Type t : {I8, U8, I16, U16})
    for (const Type from : {F32, F64}) expect_exact(Cast, t, {from});
}

TEST(integer_stage, sums_of_narrow_integers_over_subgroups) {
  for (const Type t : {I8, U8, I16, U16})
    for (const Opcode code : {SubgroupAdd, SubgroupScanAdd}) {
      const Program p = op_program(code, t, {t});
      const LaunchInputs inputs = op_inputs(p, random_operands({t}, code, 256, 1));
      const Program expanded = expand_integers(p, ptx);
      walk(expanded, [&](OpId id) {
        const Op& o = expanded.op(id);
        if (o.code == code) EXPECT_EQ(width_of(o.type), 32u);
      });
      EXPECT_EQ(run_on_interpreter(expanded, inputs), run_on_interpreter(p, inputs)) << name(t);
    }
}

size_t ops_of(const Program& p, Opcode code) {
  size_t n = 0;
  walk(p, [&](OpId id) { n += p.op(id).code == code; });
  return n;
}

TEST(integer_stage, chains_of_narrow_sums_are_cut_once) {
  SsaBuilder b("chain");
  b.program.buffers.push_back({"x", Role::InOut, U8});
  const ValueId i = b.op(GlobalId, Void, {}, 0);
  const ValueId x = b.op(Load, U8, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
  const ValueId sum = b.op(Add, U8, {x, b.op(Mul, U8, {x, x})});
  b.effect(Store, U8, {i, b.op(Sub, U8, {sum, b.op(Not, U8, {x})})},
           MemoryRef{.buffer = BufferId(0)}.pack());
  const Program p = expand_integers(b.finish(), {});
  const auto uses = count_uses(p);
  size_t cuts = 0;
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    cuts += o.code == Cast && o.type == U8 && uses[p.result(id)] > 0;
  });
  EXPECT_EQ(cuts, 1u);
}

TEST(integer_stage, quotient_and_remainder_divide_once) {
  SsaBuilder b("both");
  b.program.buffers.push_back({"x", Role::InOut, I32});
  const ValueId i = b.op(GlobalId, Void, {}, 0);
  const ValueId x = b.op(Load, I32, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
  const ValueId y = b.op(Load, I32, {b.constant(U32, 1)}, MemoryRef{.buffer = BufferId(0)}.pack());
  const ValueId quotient = b.op(Div, I32, {x, y}), rest = b.op(Rem, I32, {x, y});
  b.effect(Store, I32, {i, b.op(Xor, I32, {quotient, rest})},
           MemoryRef{.buffer = BufferId(0)}.pack());
  EXPECT_EQ(ops_of(expand_integers(b.finish(), {}), Div), 1u);
}

TEST(integer_stage, leaves_a_program_alone_that_the_target_can_run) {
  for (const auto& [code, type] : {std::pair{Mul, U32}, {RotL, U32}, {SatSub, I32}, {Ctz, U64}}) {
    const Program p = op_program(code, type, std::vector<Type>(info(code).operands.size(), type));
    const Program same = expand_integers(p, ptx);
    EXPECT_EQ(same.ops.size(), p.ops.size()) << mnemonic(code);
    EXPECT_EQ(ops_of(same, code), 1u);
  }
}

}  // namespace
}  // namespace vyre::emit_exact
