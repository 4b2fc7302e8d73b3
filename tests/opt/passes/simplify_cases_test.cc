// The rules of simplify as a table (they parse, get lighter, differ), and on cases: those that z3
// does not prove, and all floats. VYRE_RULE_CASES=100000000 tries as many for each rule and type,
// and all pairs of 16 bits; that takes a while, so VYRE_RULE_SHARD=I/N does one part of N
// (scripts/prove-rules runs them all).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "generate/random.h"
#include "opt/analysis/value_range.h"
#include "opt/passes/simplify.h"
#include "opt/passes/simplify_rules.h"
#include "tests/opt/straight_line_util.h"

namespace vyre::opt {
namespace {

using lab::Random;
using Kind = RuleNode::Kind;

std::string text_of(const Rule& rule) {
  return fmt::format("{} -> {}", rule.text.left, rule.text.right);
}

Rule parsed(const RuleText& text) {
  std::string error;
  auto rule = parse_rule(text, error);
  EXPECT_TRUE(rule) << text.left << ": " << error;
  return rule ? std::move(*rule) : Rule{};
}

void count_variables(const Rule& rule, uint8_t id, std::array<int, Rule::most_variables>& uses) {
  if (rule[id].kind == Kind::Variable) ++uses[rule[id].index];
  for (uint8_t i = 0; i < rule[id].count; ++i) count_variables(rule, rule[id].operands[i], uses);
}

int ops_in(const Rule& rule, uint8_t id) {
  if (rule[id].kind != Kind::Op || rule[id].is_constant) return 0;
  int n = 1;
  for (uint8_t i = 0; i < rule[id].count; ++i) n += ops_in(rule, rule[id].operands[i]);
  return n;
}

/// Returns the error of the rule as a row of the table, or "".
std::string fault(const RuleText& text) {
  std::string error;
  const auto rule = parse_rule(text, error);
  if (!rule) return error;
  if (text.left == text.right) return "its sides are the same text";
  if (weight(*rule, rule->right) >= weight(*rule, rule->left)) return "it does not get lighter";
  std::array<int, Rule::most_variables> left{}, right{};
  count_variables(*rule, rule->left, left);
  count_variables(*rule, rule->right, right);
  for (size_t i = 0; i < left.size(); ++i)
    if (right[i] > left[i]) return "a variable is there more often than before";
  if (ops_in(*rule, rule->right) > 1) return "it makes two ops";
  return "";
}

TEST(SimplifyRules, every_row_is_sound_as_a_row) {
  std::set<std::string> seen;
  for (const RuleText& text : rule_texts()) {
    EXPECT_EQ(fault(text), "") << text.left << " -> " << text.right;
    EXPECT_TRUE(
        seen.insert(fmt::format("{} : {} if {}", text.left, int(text.types), text.condition))
            .second)
        << text.left << " is there twice";
  }
  EXPECT_EQ(all_rules().size(), rule_texts().size());
  EXPECT_GT(all_rules().size(), 150u);
}

TEST(SimplifyRules, bad_rows_are_found) {
  const auto fault_of = [](std::string_view left, std::string_view right,
                           std::string_view condition = "") {
    return fault({left, right, RuleTypes::Int, condition, Proof::Z3});
  };
  EXPECT_EQ(fault_of("add(x, 0)", "add(x, 0)"), "its sides are the same text");
  EXPECT_EQ(fault_of("add(x, y)", "add(y, x)"), "it does not get lighter");
  EXPECT_EQ(fault_of("shl(x, 1)", "add(x, x)"), "it does not get lighter");
  EXPECT_EQ(fault_of("mul(x, 2)", "add(x, x)"), "a variable is there more often than before");
  EXPECT_EQ(fault_of("mul(mul(x, y), z)", "add(sub(x, y), z)"), "it makes two ops");
  EXPECT_EQ(fault_of("x", "0"), "the left side must be an op");
  EXPECT_EQ(fault_of("add(x, 0)", "x", "eq(x, 1)"), "a condition is about constants");
  EXPECT_EQ(fault_of("plus(x, 0)", "x"), "`plus` is not a pure op");
  EXPECT_EQ(fault_of("load(x)", "x"), "`load` is not a pure op");
  EXPECT_EQ(fault_of("add(x)", "x"), "`add` has other operands");
  EXPECT_EQ(fault_of("add(x, 0", "x"), "`)` is missing at ``");
  EXPECT_EQ(fault_of("add(x, zero)", "x"), "`zero` means nothing");
}

// ---- Cases.

/// Lanes of the variables and constants of a rule.
struct Cases {
  size_t lanes = 0;
  std::array<Lanes, Rule::most_variables> variables, constants;
};

Lanes evaluate(const Rule& rule, uint8_t id, Type t, const Cases& cases) {
  const RuleNode& node = rule[id];
  if (node.kind == Kind::Variable) return cases.variables[node.index];
  if (node.kind == Kind::Constant) return cases.constants[node.index];
  const size_t size = size_of(rule.value_type(id, t));
  Lanes out(cases.lanes * size);
  if (node.kind == Kind::Literal) {
    const uint64_t bits = rule.literal_bits(id, t);
    for (size_t l = 0; l < cases.lanes; ++l) std::memcpy(&out[l * size], &bits, size);
    return out;
  }
  std::array<Lanes, 4> in;
  const void* pointers[4] = {};
  for (uint8_t i = 0; i < node.count; ++i) {
    in[i] = evaluate(rule, node.operands[i], t, cases);
    pointers[i] = in[i].data();
  }
  const EvalFn fn = find_eval(node.code, rule.op_type(id, t), rule.value_type(node.operands[0], t));
  EXPECT_TRUE(fn) << mnemonic(node.code);
  if (fn) fn(cases.lanes, out.data(), pointers);
  return out;
}

uint64_t bits_at(const Lanes& lanes, size_t size, size_t lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, &lanes[lane * size], size);
  return bits;
}

bool is_nan_bits(Type t, uint64_t bits) {
  return t == Type::F32 ? std::isnan(std::bit_cast<float>(uint32_t(bits)))
                        : t == Type::F64 && std::isnan(std::bit_cast<double>(bits));
}

struct Outcome {
  uint64_t held = 0;    // cases in which the condition held
  std::string refuted;  // the first case in which the sides differ
};

/// NaN is one value: its bits don't exist.
void judge(const Rule& rule, Type t, const Cases& cases, Outcome& outcome) {
  const ExactFloats exact;
  Lanes holds;
  if (rule.condition != Rule::nothing) holds = evaluate(rule, rule.condition, t, cases);
  const Lanes left = evaluate(rule, rule.left, t, cases),
              right = evaluate(rule, rule.right, t, cases);
  const Type type = rule.value_type(rule.left, t);
  const size_t size = size_of(type);
  if (holds.empty() && left == right) {
    outcome.held += cases.lanes;
    return;
  }
  for (size_t l = 0; l < cases.lanes; ++l) {
    if (!holds.empty() && holds[l] == std::byte{0}) continue;
    ++outcome.held;
    const uint64_t a = bits_at(left, size, l), b = bits_at(right, size, l);
    if (a == b || (is_nan_bits(type, a) && is_nan_bits(type, b)) || !outcome.refuted.empty())
      continue;
    outcome.refuted = fmt::format("{} for {}: {:#x} and {:#x}", text_of(rule), name(t), a, b);
    for (uint8_t i = 0; i < rule.variables; ++i)
      outcome.refuted +=
          fmt::format(", variable {:#x}",
                      bits_at(cases.variables[i], cases.variables[i].size() / cases.lanes, l));
    for (uint8_t i = 0; i < rule.constants; ++i)
      outcome.refuted +=
          fmt::format(", constant {:#x}",
                      bits_at(cases.constants[i], cases.constants[i].size() / cases.lanes, l));
  }
}

/// Types of variables and constants, in this order.
std::vector<Type> leaf_types(const Rule& rule, Type t) {
  std::vector<Type> types(rule.variables + rule.constants, t);
  for (uint8_t id = 0; id < rule.nodes.size(); ++id) {
    if (rule[id].kind == Kind::Variable) types[rule[id].index] = rule.op_type(id, t);
    if (rule[id].kind == Kind::Constant)
      types[rule.variables + rule[id].index] = rule.op_type(id, t);
  }
  return types;
}

template <class Next>
Cases cases_of(const Rule& rule, Type t, size_t lanes, Next next) {
  Cases cases;
  cases.lanes = lanes;
  const std::vector<Type> types = leaf_types(rule, t);
  for (size_t v = 0; v < types.size(); ++v) {
    Lanes& out = v < rule.variables ? cases.variables[v] : cases.constants[v - rule.variables];
    const size_t size = size_of(types[v]);
    out.resize(lanes * size);
    for (size_t l = 0; l < lanes; ++l) {
      const uint64_t bits = next(types[v], v, l);
      std::memcpy(&out[l * size], &bits, size);
    }
  }
  return cases;
}

uint64_t interesting(Random& random, Type type) {
  const unsigned w = width_of(type);
  if (is_float(type)) {
    const auto bits = [&](double x) {
      return type == Type::F32 ? uint64_t{std::bit_cast<uint32_t>(float(x))}
                               : std::bit_cast<uint64_t>(x);
    };
    switch (random.below(4)) {
      case 0:
        return bits(random.pick({0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 2.0,
                                 3.0,
                                 -0.5,
                                 1e30,
                                 -1e-30,
                                 1e-45,
                                 1.17549435e-38,
                                 3.4028234e38,
                                 0.1,
                                 16777217.0,
                                 2.2250738585072014e-308,
                                 5e-324,
                                 1.7976931348623157e308,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}));
      case 1: {
        const int most = type == Type::F32 ? 149 : 1074;
        // Named in order: the evaluation order of arguments is unspecified.
        const int exponent = int(random.below(2 * most)) - most;
        return bits(std::ldexp(random.below(2) ? 1.0 : -1.0, exponent));
      }
      case 2: return bits(double(int64_t(random.below(41))) - 20);
      default: return random.next() & low_mask(w);
    }
  }
  const uint64_t power = uint64_t{1} << random.below(w);
  switch (random.below(4)) {
    case 0: return (power + random.below(3) - 1) & low_mask(w);
    case 1: return power;
    case 2: return random.below(2) ? bits_of(type, least(type)) : bits_of(type, greatest(type));
    default: return random.next() >> random.below(64) & low_mask(w);
  }
}

Outcome try_random(const Rule& rule, Type t, uint64_t wanted) {
  Outcome outcome;
  Random random(uint64_t(t) + 77);
  // Conditions hold now and then: counted are the cases in which they do.
  for (int round = 0; outcome.held < wanted && outcome.refuted.empty() && round < 100'000; ++round)
    judge(rule, t,
          cases_of(rule, t, 1 << 14,
                   [&](Type type, size_t, size_t) { return interesting(random, type); }),
          outcome);
  return outcome;
}

/// Every combination, for the widths that the leaves of the rule have.
Outcome try_all(const Rule& rule, Type t) {
  Outcome outcome;
  const std::vector<Type> types = leaf_types(rule, t);
  unsigned bits = 0;
  for (const Type type : types) bits += width_of(type);
  const uint64_t all = uint64_t{1} << bits, lanes = std::min<uint64_t>(all, 1 << 16);
  for (uint64_t begin = 0; begin < all && outcome.refuted.empty(); begin += lanes)
    judge(rule, t,
          cases_of(rule, t, size_t(lanes),
                   [&](Type type, size_t v, size_t l) {
                     unsigned below = 0;
                     for (size_t i = 0; i < v; ++i) below += width_of(types[i]);
                     return (begin + l) >> below & low_mask(width_of(type));
                   }),
          outcome);
  return outcome;
}

/// For 16 bits and two leaves: tries every value of the first with `wanted` values of the second,
/// the interesting ones first; all of them if wanted is 0.
Outcome try_pairs_of_16(const Rule& rule, Type t, uint64_t wanted) {
  Outcome outcome;
  Random random(16);
  const uint64_t rounds = wanted ? wanted : 1 << 16;
  for (uint64_t n = 0; n < rounds && outcome.refuted.empty(); ++n) {
    const uint64_t second = !wanted   ? n
                            : n < 16  ? 1ull << n
                            : n < 32  ? (1ull << (n - 16)) - 1
                            : n == 32 ? 0xffff
                                      : interesting(random, t);
    judge(rule, t,
          cases_of(rule, t, 1 << 16,
                   [&](Type, size_t v, size_t l) { return v == 0 ? uint64_t(l) : second; }),
          outcome);
  }
  return outcome;
}

const char* more_cases() { return std::getenv("VYRE_RULE_CASES"); }
uint64_t wanted_cases() { return more_cases() ? std::strtoull(more_cases(), nullptr, 10) : 60'000; }

/// Distributes the pairs (rule, type) over processes.
class Shard {
 public:
  Shard() {
    if (const char* text = std::getenv("VYRE_RULE_SHARD")) {
      EXPECT_EQ(std::sscanf(text, "%u/%u", &index_, &count_), 2) << text;
    }
  }
  bool has_next() { return next_++ % count_ == index_; }

 private:
  unsigned index_ = 0, count_ = 1, next_ = 0;
};

TEST(SimplifyRules, rules_that_z3_does_not_prove_hold_in_every_case) {
  Shard shard;
  for (const Rule& rule : all_rules()) {
    if (rule.text.proof != Proof::Cases) continue;
    const size_t leaves = size_t(rule.variables + rule.constants);
    ASSERT_LE(leaves, 2u) << text_of(rule) << ": too many cases of 16 bits";
    for (const Type t :
         {Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::I64, Type::U64}) {
      if (!contains(rule.text.types, t) || !shard.has_next()) continue;
      const bool all = width_of(t) == 8 || (width_of(t) == 16 && leaves == 1);
      const Outcome outcome = all                 ? try_all(rule, t)
                              : width_of(t) == 16 ? try_pairs_of_16(rule, t, more_cases() ? 0 : 48)
                                                  : try_random(rule, t, wanted_cases());
      EXPECT_EQ(outcome.refuted, "");
      EXPECT_GT(outcome.held, 0u) << text_of(rule);
    }
  }
}

TEST(SimplifyRules, rules_of_floats_hold) {
  size_t rules = 0;
  for (const Rule& rule : all_rules())
    for (const Type t : {Type::F32, Type::F64}) {
      if (!contains(rule.text.types, t)) continue;
      const uint64_t wanted = more_cases() ? wanted_cases() : 1'000'000;
      const Outcome outcome =
          try_random(rule, t, rule.text.condition.empty() ? wanted : wanted / 10);
      EXPECT_EQ(outcome.refuted, "");
      EXPECT_GE(outcome.held, 100'000u) << text_of(rule);
      ++rules;
    }
  EXPECT_GT(rules, 60u);
}

TEST(SimplifyRules, wrong_rules_are_refuted_by_cases) {
  const RuleText wrong[] = {
      {"add(x, 0.0)", "x", RuleTypes::Float, "", Proof::Floats},  // -0
      {"sub(x, x)", "0.0", RuleTypes::Float, "", Proof::Floats},  // inf, NaN
      {"mul(x, 0.0)", "0.0", RuleTypes::Float, "", Proof::Floats},
      {"neg(sub(x, y))", "sub(y, x)", RuleTypes::Float, "", Proof::Floats},  // x = y
      {"div(x, 3.0)", "mul(x, div(1.0, 3.0))", RuleTypes::Float, "", Proof::Floats},
      {"div(x, C)", "mul(x, div(1.0, C))", RuleTypes::Float, "eq(mul(C, div(1.0, C)), 1.0)",
       Proof::Floats},
      {"add(mul(x, y), z)", "fma(x, y, z)", RuleTypes::Float, "", Proof::Floats},
      {"eq(x, x)", "true", RuleTypes::Float, "", Proof::Floats},
      {"not(lt(x, y))", "ge(x, y)", RuleTypes::Float, "", Proof::Floats},
      {"select(lt(x, y), x, y)", "min(x, y)", RuleTypes::Float, "", Proof::Floats},
      {"min(max(x, y), y)", "y", RuleTypes::Float, "", Proof::Floats},
      {"add(sub(x, y), y)", "x", RuleTypes::Float, "", Proof::Floats},
      {"div(0, x)", "0", RuleTypes::Unsigned, "", Proof::Cases},  // 0/0
      {"div(x, x)", "1", RuleTypes::Int, "", Proof::Cases},
      {"div(mul(x, y), y)", "x", RuleTypes::Int, "", Proof::Cases},
      {"div(x, C)", "shr(x, ctz(C))", RuleTypes::Signed, "eq(popcount(C), 1)", Proof::Cases},
      {"rem(x, C)", "and(x, sub(C, 1))", RuleTypes::Signed, "eq(popcount(C), 1)", Proof::Cases},
  };
  for (const RuleText& text : wrong) {
    const Rule rule = parsed(text);
    for (const Type t : {Type::I8, Type::U8, Type::I32, Type::U32, Type::F32, Type::F64}) {
      if (!contains(text.types, t)) continue;
      EXPECT_NE(try_random(rule, t, 2'000'000).refuted, "") << text_of(rule) << " for " << name(t);
      if (width_of(t) == 8) {
        EXPECT_NE(try_all(rule, t).refuted, "") << text_of(rule);
      }
    }
  }
}

// ---- Conversions with floats in them; of integers alone: simplify_proof_test.cc.

TEST(SimplifyRules, merged_conversions_hold) {
  constexpr Type types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16, Type::I32,
                            Type::U32,  Type::I64, Type::U64, Type::F32, Type::F64};
  const ExactFloats exact;
  Random random(5);
  for (const Opcode code : {Opcode::Cast, Opcode::Bitcast})
    for (const Type from : types)
      for (const Type through : types)
        for (const Type to : types) {
          if (!(code == Opcode::Cast ? casts_merge : bitcasts_merge)(from, through, to)) continue;
          for (int n = 0; n < 2'000; ++n) {
            const uint64_t x = interesting(random, from);
            const uint64_t inner = eval_bits(code, through, from, &x, 1);
            const uint64_t twice = eval_bits(code, to, through, &inner, 1);
            const uint64_t once = from == to ? x : eval_bits(code, to, from, &x, 1);
            if (is_nan_bits(to, twice) && is_nan_bits(to, once)) continue;
            ASSERT_EQ(twice, once) << mnemonic(code) << " " << name(from) << ", " << name(through)
                                   << ", " << name(to) << " of " << x;
          }
        }
  // A NaN that comes back from a float has lost its bits; a saturated number is not a wrapped one.
  EXPECT_FALSE(bitcasts_merge(Type::U32, Type::F32, Type::U32));
  EXPECT_FALSE(casts_merge(Type::I32, Type::F64, Type::U8));
  EXPECT_FALSE(casts_merge(Type::U32, Type::U8, Type::U32));
}

}  // namespace
}  // namespace vyre::opt
