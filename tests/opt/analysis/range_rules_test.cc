// The arithmetic on ranges against the one definition of every op, on random sets.
#include "opt/analysis/range_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generate/interesting.h"
#include "generate/random.h"
#include "ir/eval/eval.h"
#include "tests/opt/analysis/range_contains.h"

namespace vyre::opt {
namespace {

/// A few values, and a range with the properties that they have in common.
struct Sample {
  ValueRange range;
  std::vector<uint64_t> members;
};

Sample sample(lab::Random& random, Type t) {
  Sample s;
  const uint64_t mask = low_mask(width_of(t));
  const uint64_t n = 1 + random.below(4);
  uint64_t near = lab::interesting_bits(random, t);
  for (uint64_t i = 0; i < n; ++i) {
    // Neighbours, multiples, or anything.
    switch (random.below(4)) {
      case 0: near = lab::interesting_bits(random, t); break;
      case 1: near += random.below(8); break;
      case 2: near -= 4 * random.below(8); break;
      default: near ^= 1ull << random.below(width_of(t));
    }
    s.members.push_back(near & mask);
  }
  s.range = constant_range(t, s.members[0]);
  for (const uint64_t m : s.members) s.range = join(t, s.range, constant_range(t, m));
  return s;
}

std::string show(Type t, const ValueRange& r) {
  return fmt::format("{} [{}, {}] zeros {:x} ones {:x}", name(t), r.lo, r.hi, r.zeros, r.ones);
}

void try_op(const OpInfo& op, Opcode code, Type t, Type source, lab::Random& random) {
  std::vector<Type> types;
  for (const char c : op.operands)
    types.push_back(c == 'T' ? t : c == 'U' ? Type::U32 : c == 'B' ? Type::Bool : source);
  const Type first = types[0];
  if (!find_eval(code, t, first)) return;
  const Type result = result_type(op.result, t);
  std::vector<Sample> in;
  std::vector<ValueRange> ranges;
  for (const Type each : types) {
    in.push_back(sample(random, each));
    ranges.push_back(in.back().range);
  }
  const RangeRules::Result got = apply_pure(code, t, first, ranges);
  for (int i = 0; i < 24; ++i) {
    std::vector<uint64_t> bits;
    for (const Sample& s : in) bits.push_back(s.members[random.below(s.members.size())]);
    const uint64_t value = eval_bits(code, t, first, bits.data(), bits.size());
    const auto what = [&] {
      std::string text = fmt::format("{} of", op.mnemonic);
      for (size_t k = 0; k < in.size(); ++k)
        text += fmt::format(" {:x} in {};", bits[k], show(types[k], ranges[k]));
      return text;
    };
    ASSERT_TRUE(contains(got.range, result, value))
        << what() << " gives " << std::hex << value << ", not in " << show(result, got.range);
    if (!got.no_wrap) continue;
    const Wide x = number(t, bits[0]), y = bits.size() > 1 ? number(t, bits[1]) : 0;
    const Wide exact = code == Opcode::Add   ? x + y
                       : code == Opcode::Sub ? x - y
                       : code == Opcode::Mul ? x * y
                       : code == Opcode::Neg ? -x
                                             : x * (Wide{1} << (uint64_t(y) & (width_of(t) - 1)));
    ASSERT_TRUE(exact == number(t, value)) << what() << " wraps";
  }
}

TEST(RangeRules, hold_what_every_op_gives) {
  const Type all[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16,
                      Type::I32,  Type::U32, Type::I64, Type::U64};
  lab::Random random(7);
  uint32_t ops = 0;
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& op = all_ops()[i];
    const Opcode code = Opcode(i);
    if (op.effect != Effect::Pure || op.operands.empty()) continue;
    bool tried = false;
    for (const Type t : all) {
      const bool converts = op.operands == "S";
      if (!contains(op.types, t)) continue;
      for (const Type source : all) {
        if (!converts && source != t) continue;
        if (code == Opcode::Bitcast && width_of(source) != width_of(t)) continue;
        tried = true;
        for (int n = 0; n < 600 && !testing::Test::HasFatalFailure(); ++n)
          try_op(op, code, t, source, random);
      }
    }
    ops += tried;
  }
  EXPECT_GE(ops, 37u);
}

TEST(RangeRules, know_exactly_what_constants_give) {
  lab::Random random(11);
  for (const Opcode code : {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Div, Opcode::Rem,
                            Opcode::And, Opcode::Or, Opcode::Xor, Opcode::Shl, Opcode::Shr,
                            Opcode::RotL, Opcode::Min, Opcode::Max, Opcode::SatAdd, Opcode::MulHi})
    for (int n = 0; n < 200; ++n) {
      const uint64_t in[] = {random.next() & 0xffffffff, random.next() & 0xffffffff};
      const ValueRange ranges[] = {constant_range(Type::U32, in[0]),
                                   constant_range(Type::U32, in[1])};
      const ValueRange r = apply_pure(code, Type::U32, Type::U32, ranges).range;
      EXPECT_EQ(r, constant_range(Type::U32, eval_bits(code, Type::U32, Type::U32, in, 2)))
          << mnemonic(code);
    }
}

TEST(ValueRange, intervals_and_bits_refine_each_other) {
  // 16 … 31 is 1xxxx; multiples of 4 among 5 … 30 are 8 … 28.
  const ValueRange a = make_range(Type::U8, 16, 31);
  EXPECT_EQ(a.ones, 0x10u);
  EXPECT_EQ(a.zeros, 0xe0u);
  const ValueRange b = make_range(Type::U8, 5, 30, 3);
  EXPECT_EQ(b.lo, 8);
  EXPECT_EQ(b.hi, 28);
  EXPECT_FALSE(find_range(Type::U8, 5, 7, 3).has_value());
  const ValueRange c = make_range(Type::I8, -128, 127, 0, 0x80);
  EXPECT_EQ(c.hi, -1);
}

TEST(ValueRange, floats_are_never_constants) {
  EXPECT_FALSE(full_range(Type::F32).is_constant());
  EXPECT_TRUE(contains(full_range(Type::F64), Type::F64, ~0ull));
}

}  // namespace
}  // namespace vyre::opt
