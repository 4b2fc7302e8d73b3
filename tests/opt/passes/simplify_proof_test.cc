// z3 proves every integer rule of simplify as a theorem of bit-vectors at 8, 16 and 32 bits. The
// encoding of the ops for z3 is compared with eval().
#include <gtest/gtest.h>

#include "opt/passes/simplify.h"
#include "opt/passes/simplify_rules.h"

#ifndef VYRE_HAVE_Z3

TEST(SimplifyProof, needs_z3) {
  GTEST_SKIP() << "z3 was not there at configuration: install libz3-dev and configure again";
}

#else

#include <z3++.h>

#include <bit>
#include <set>

#include "generate/random.h"
#include "ir/eval/eval.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {
namespace {

using lab::Random;
using Exprs = std::vector<z3::expr>;

constexpr Type provable[] = {Type::Bool, Type::I8,  Type::U8, Type::I16,
                             Type::U16,  Type::I32, Type::U32};

/// Ops as bit-vectors, a bool as one bit: the specification, written a second time.
class Encoder {
 public:
  explicit Encoder(z3::context& context) : z_(context) {}

  /// Amounts that are numbers make products and fixed rotations, which z3 can reorder.
  bool known_amounts = false;

  z3::expr number(Type type, uint64_t bits) {
    return z_.bv_val(bits & low_mask(width_of(type)), width_of(type));
  }

  /// None for ops that are not encoded.
  std::optional<z3::expr> op(Opcode code, Type type, const Exprs& in) {
    const unsigned w = width_of(type);
    const bool is_signed_type = is_signed(type);
    const auto constant = [&](uint64_t bits) { return number(type, bits); };
    const auto bit = [&](const z3::expr& c) {
      return z3::ite(c, z_.bv_val(1, 1), z_.bv_val(0, 1));
    };
    const auto less = [&](const z3::expr& a, const z3::expr& b) {
      return is_signed_type ? a < b : z3::ult(a, b);
    };
    const auto least = [&](const z3::expr& a, const z3::expr& b) {
      return z3::ite(less(b, a), b, a);
    };
    const auto greatest = [&](const z3::expr& a, const z3::expr& b) {
      return z3::ite(less(a, b), b, a);
    };
    const auto amount = [&](const z3::expr& a) {
      const z3::expr e = a & constant(w - 1);
      return known_amounts ? e.simplify() : e;
    };
    const z3::expr zero = constant(0);
    switch (code) {
      case Opcode::Add: return in[0] + in[1];
      case Opcode::Sub: return in[0] - in[1];
      case Opcode::Mul: return in[0] * in[1];
      case Opcode::Neg: return -in[0];
      case Opcode::Min: return least(in[0], in[1]);
      case Opcode::Max: return greatest(in[0], in[1]);
      case Opcode::Clamp: return least(greatest(in[0], in[1]), in[2]);
      case Opcode::Abs: return is_signed_type ? z3::ite(in[0] < 0, -in[0], in[0]) : in[0];
      case Opcode::MulHi: {
        const auto wide = [&](const z3::expr& e) {
          return is_signed_type ? z3::sext(e, w) : z3::zext(e, w);
        };
        return (wide(in[0]) * wide(in[1])).extract(2 * w - 1, w);
      }
      case Opcode::SatAdd:
      case Opcode::SatSub: {
        const auto wide = [&](const z3::expr& e) {
          return is_signed_type ? z3::sext(e, 2) : z3::zext(e, 2);
        };
        const z3::expr sum =
            code == Opcode::SatAdd ? wide(in[0]) + wide(in[1]) : wide(in[0]) - wide(in[1]);
        const z3::expr lo = constant(bits_of(type, opt::least(type))),
                       hi = constant(bits_of(type, opt::greatest(type)));
        return z3::ite(sum < wide(lo), lo, z3::ite(sum > wide(hi), hi, sum.extract(w - 1, 0)));
      }
      case Opcode::And: return in[0] & in[1];
      case Opcode::Or: return in[0] | in[1];
      case Opcode::Xor: return in[0] ^ in[1];
      case Opcode::Not: return ~in[0];
      case Opcode::Shl: {
        const z3::expr by = amount(in[1]);
        if (known_amounts && by.is_numeral())
          return in[0] * constant(uint64_t{1} << by.get_numeral_uint64());
        return z3::shl(in[0], by);
      }
      case Opcode::Shr:
        return is_signed_type ? z3::ashr(in[0], amount(in[1])) : z3::lshr(in[0], amount(in[1]));
      case Opcode::RotL: return rotate(in[0], amount(in[1]), w);
      case Opcode::RotR: return rotate(in[0], amount(constant(w) - amount(in[1])), w);
      case Opcode::Clz: return first_bit(type, in[0], true);
      case Opcode::Ctz: return first_bit(type, in[0], false);
      case Opcode::PopCount: {
        z3::expr sum = zero;
        for (unsigned i = 0; i < w; ++i) sum = sum + z3::zext(in[0].extract(i, i), w - 1);
        return sum;
      }
      case Opcode::ReverseBits: {
        z3::expr all = in[0].extract(0, 0);
        for (unsigned i = 1; i < w; ++i) all = z3::concat(all, in[0].extract(i, i));
        return all;
      }
      case Opcode::Extract: {
        const auto [offset, n] = field(in[1], in[2], w);
        const z3::expr top = z3::shl(in[0], constant(w) - offset - n), down = constant(w) - n;
        return z3::ite(n == zero, zero, is_signed_type ? z3::ashr(top, down) : z3::lshr(top, down));
      }
      case Opcode::Insert: {
        const auto [offset, n] = field(in[2], in[3], w);
        const z3::expr mask = z3::shl(z3::lshr(constant(~uint64_t{0}), constant(w) - n), offset);
        return z3::ite(n == zero, in[0], (in[0] & ~mask) | (z3::shl(in[1], offset) & mask));
      }
      case Opcode::Eq: return bit(in[0] == in[1]);
      case Opcode::Ne: return bit(in[0] != in[1]);
      case Opcode::Lt: return bit(less(in[0], in[1]));
      case Opcode::Le: return bit(!less(in[1], in[0]));
      case Opcode::Gt: return bit(less(in[1], in[0]));
      case Opcode::Ge: return bit(!less(in[0], in[1]));
      case Opcode::Select: return z3::ite(in[0] == z_.bv_val(1, 1), in[1], in[2]);
      default: return std::nullopt;
    }
  }

  z3::expr cast(Type from, Type to, const z3::expr& x) {
    const unsigned have = width_of(from), want = width_of(to);
    if (to == Type::Bool) return z3::ite(x != z_.bv_val(0, have), z_.bv_val(1, 1), z_.bv_val(0, 1));
    if (want <= have) return want == have ? x : x.extract(want - 1, 0);
    return is_signed(from) ? z3::sext(x, want - have) : z3::zext(x, want - have);
  }

 private:
  /// In steps of 1, 2, 4, …: z3 finds its way through those sooner than through two shifts.
  z3::expr rotate(z3::expr x, const z3::expr& by, unsigned w) {
    if (known_amounts && by.is_numeral()) return x.rotate_left(unsigned(by.get_numeral_uint64()));
    for (unsigned k = 0; 1u << k < w; ++k)
      x = z3::ite(by.extract(k, k) == z_.bv_val(1, 1), x.rotate_left(1u << k), x);
    return x;
  }
  z3::expr first_bit(Type type, const z3::expr& x, bool from_top) {
    const unsigned w = width_of(type);
    z3::expr result = number(type, w);
    for (unsigned i = w; i-- > 0;) {
      const unsigned at = from_top ? w - 1 - i : i;
      result = z3::ite(x.extract(at, at) == z_.bv_val(1, 1), number(type, i), result);
    }
    return result;
  }
  /// Offset and count of 32 bits, clamped, in the width of the value.
  std::pair<z3::expr, z3::expr> field(z3::expr offset, z3::expr n, unsigned w) {
    const z3::expr width = z_.bv_val(w, 32);
    offset = z3::ite(z3::ult(offset, width), offset, width);
    const z3::expr room = width - offset;
    n = z3::ite(z3::ult(n, room), n, room);
    const auto fit = [&](const z3::expr& e) {
      return w < 32 ? e.extract(w - 1, 0) : w == 32 ? e : z3::zext(e, w - 32);
    };
    return {fit(offset), fit(n)};
  }

  z3::context& z_;
};

/// The answer of z3 for a rule and one T.
enum class Answer { Proved, Refuted, Unknown };

class Prover {
 public:
  Prover(const Rule& rule, Type t) : rule_(rule), t_(t), encoder_(z_) {}

  Answer run() {
    find_amount();
    if (amount_ == none_) return ask();
    // Only the amount modulo the width counts: one question for each.
    encoder_.known_amounts = true;
    for (uint64_t k = 0; k < width_of(t_); ++k) {
      amount_is_ = k;
      if (const Answer answer = ask(); answer != Answer::Proved) return answer;
    }
    return Answer::Proved;
  }

 private:
  static constexpr int none_ = -1;

  /// Finds, for a rule with two constants, the one that is a shift amount.
  void find_amount() {
    if (rule_.constants < 2 || !is_integer(t_)) return;
    for (const RuleNode& node : rule_.nodes) {
      const bool shifts = node.code == Opcode::Shl || node.code == Opcode::Shr ||
                          node.code == Opcode::RotL || node.code == Opcode::RotR;
      if (node.kind == RuleNode::Kind::Op && shifts &&
          rule_[node.operands[1]].kind == RuleNode::Kind::Constant)
        amount_ = rule_[node.operands[1]].index;
    }
  }

  Answer ask() {
    const z3::expr left = encode(rule_.left), right = encode(rule_.right);
    z3::solver solver = z3::tactic(z_, "qfbv").mk_solver();
    z3::params params(z_);
    params.set("timeout", 20'000u);
    solver.set(params);
    if (rule_.condition != Rule::nothing) solver.add(encode(rule_.condition) == z_.bv_val(1, 1));
    solver.add(left != right);
    switch (solver.check()) {
      case z3::unsat: return Answer::Proved;
      case z3::sat: return Answer::Refuted;
      default: return Answer::Unknown;
    }
  }

  z3::expr encode(uint8_t id) {
    const RuleNode& node = rule_[id];
    const Type type = rule_.op_type(id, t_);
    if (node.kind == RuleNode::Kind::Literal)
      return encoder_.number(type, rule_.literal_bits(id, t_));
    if (node.kind != RuleNode::Kind::Op) {
      if (node.kind == RuleNode::Kind::Constant && node.index == amount_) {
        const unsigned low = unsigned(std::countr_zero(width_of(type)));
        return z3::concat(z_.bv_const("high", width_of(type) - low), z_.bv_val(amount_is_, low));
      }
      const std::string name =
          (node.kind == RuleNode::Kind::Constant ? "C" : "x") + std::to_string(node.index);
      return z_.bv_const(name.c_str(), width_of(type));
    }
    Exprs in;
    for (uint8_t i = 0; i < node.count; ++i) in.push_back(encode(node.operands[i]));
    const auto result = encoder_.op(node.code, type, in);
    EXPECT_TRUE(result) << mnemonic(node.code) << " is not encoded";
    return result ? *result : z_.bv_const("?", width_of(rule_.value_type(id, t_)));
  }

  const Rule& rule_;
  Type t_;
  int amount_ = none_;  // which constant
  uint64_t amount_is_ = 0;
  z3::context z_;
  Encoder encoder_;
};

Rule parsed(const RuleText& text) {
  std::string error;
  auto rule = parse_rule(text, error);
  EXPECT_TRUE(rule) << text.left << ": " << error;
  return rule ? std::move(*rule) : Rule{};
}

TEST(SimplifyProof, every_integer_rule_is_a_theorem) {
  size_t proved = 0;
  for (const Rule& rule : all_rules()) {
    if (rule.text.proof != Proof::Z3) continue;
    for (const Type t : provable) {
      if (!contains(rule.text.types, t)) continue;
      const Answer answer = Prover(rule, t).run();
      EXPECT_EQ(answer, Answer::Proved)
          << rule.text.left << " -> " << rule.text.right << " for " << name(t)
          << (answer == Answer::Unknown ? ": no answer in time" : ": it is false");
      ++proved;
    }
  }
  EXPECT_GT(proved, 600u);
}

/// The assumptions of simplify about ids (simplify_ids.h), for these workgroup sizes and every
/// launch that the semantics allow: global = group · size + local with local < size, below 2^32.
TEST(SimplifyProof, identities_of_ids_are_theorems) {
  for (const unsigned size : {1u, 2u, 3u, 5u, 12u, 64u, 100u, 256u, 1000u, 1024u}) {
    z3::context z;
    const z3::expr group = z.bv_const("group", 32), local = z.bv_const("local", 32);
    const z3::expr s = z.bv_val(size, 32), global = group * s + local;
    z3::solver solver(z);
    solver.add(z3::ult(local, s));
    const z3::expr exact = z3::zext(group, 32) * z3::zext(s, 32) + z3::zext(local, 32);
    solver.add(z3::ult(exact, z.bv_val(uint64_t{1} << 32, 64)));
    const auto is_true = [&](const z3::expr& claim) {
      solver.push();
      solver.add(!claim);
      const bool proved = solver.check() == z3::unsat;
      solver.pop();
      return proved;
    };
    const auto is_theorem = [&](const z3::expr& left, const z3::expr& right) {
      return is_true(left == right);
    };
    EXPECT_TRUE(is_theorem(global - group * s, local)) << size;
    EXPECT_TRUE(is_theorem(global - local, group * s)) << size;
    // group and local are quotient and remainder: they are the only numbers with this property.
    EXPECT_TRUE(is_true(z3::ule(group * s, global) && z3::ult(global - group * s, s))) << size;
    if (std::has_single_bit(size)) {
      const z3::expr by = z.bv_val(std::countr_zero(size), 32);
      EXPECT_TRUE(is_theorem(z3::shl(group, by), group * s)) << size;
      EXPECT_TRUE(is_theorem(z3::lshr(global, by), group)) << size;
      EXPECT_TRUE(is_theorem(global & (s - 1), local)) << size;
    }
    EXPECT_FALSE(is_theorem(global - group * (s + 1), local)) << size;
  }
}

TEST(SimplifyProof, wrong_rules_are_refuted) {
  const RuleText wrong[] = {
      {"sub(x, x)", "1", RuleTypes::Int, "", Proof::Z3},
      {"shl(shl(x, C), D)", "shl(x, add(C, D))", RuleTypes::Int, "", Proof::Z3},
      {"shr(shl(x, C), C)", "x", RuleTypes::Int, "", Proof::Z3},
      {"shr(shl(x, C), C)", "and(x, shr(-1, C))", RuleTypes::Signed, "ne(and(C, sub(W, 1)), 0)",
       Proof::Z3},
      {"abs(abs(x))", "x", RuleTypes::Signed, "", Proof::Z3},
      {"lt(sub(x, y), 0)", "lt(x, y)", RuleTypes::Signed, "", Proof::Z3},
      {"gt(add(x, 1), x)", "true", RuleTypes::Int, "", Proof::Z3},
      {"min(max(x, C), D)", "D", RuleTypes::Int, "le(C, D)", Proof::Z3},
      {"and(or(x, C), D)", "and(x, D)", RuleTypes::Int, "", Proof::Z3},
      {"select(c, x, y)", "x", RuleTypes::Bool, "", Proof::Z3},
      {"extract(x, 0, C)", "x", RuleTypes::Int, "ge(C, sub(W, 1))", Proof::Z3},
      {"sub(add(x, y), add(z, x))", "sub(z, y)", RuleTypes::Int, "", Proof::Z3},
      {"add(and(x, C), and(x, D))", "and(x, or(C, D))", RuleTypes::Int, "", Proof::Z3},
  };
  for (const RuleText& text : wrong) {
    const Rule rule = parsed(text);
    for (const Type t : provable) {
      if (contains(text.types, t)) {
        EXPECT_EQ(Prover(rule, t).run(), Answer::Refuted) << text.left << " for " << name(t);
      }
    }
  }
}

/// z3's constants fold to what eval() gives, for every op that is encoded and every type.
TEST(SimplifyProof, z3_is_told_the_law) {
  z3::context z;
  Encoder encoder(z);
  Random random(1);
  std::set<std::string_view> tried;
  for (int i = 0; i < 256; ++i) {
    const Opcode code = Opcode(i);
    if (size_t(i) >= all_ops().size()) break;
    if (!is_pure(code) || code == Opcode::Cast || code == Opcode::Bitcast) continue;
    for (const Type t : provable) {
      const std::string_view operands = info(code).operands;
      const Type first = operands.starts_with('B') ? Type::Bool : t;
      if (operands.empty() || !find_eval(code, t, first)) continue;
      for (int n = 0; n < 60; ++n) {
        uint64_t bits[4] = {};
        Exprs in;
        for (size_t k = 0; k < operands.size(); ++k) {
          const Type type = operands[k] == 'B' ? Type::Bool : operands[k] == 'U' ? Type::U32 : t;
          uint64_t b = random.next() >> random.below(64);
          if (random.below(3) == 0)
            b = random.pick({uint64_t{0}, uint64_t{1}, ~uint64_t{0}, bits_of(type, least(type)),
                             uint64_t{width_of(t)}});
          bits[k] = b & low_mask(width_of(type));
          in.push_back(encoder.number(type, bits[k]));
        }
        encoder.known_amounts = n % 2;
        const auto made = encoder.op(code, t, in);
        if (!made) break;
        tried.insert(mnemonic(code));
        const uint64_t is = made->simplify().get_numeral_uint64();
        const Type result = info(code).result == 'B' ? Type::Bool : t;
        const uint64_t specified =
            eval_bits(code, t, first, bits, operands.size()) & low_mask(width_of(result));
        ASSERT_EQ(is, specified) << mnemonic(code) << " of " << name(t) << ": " << bits[0] << ", "
                                 << bits[1] << ", " << bits[2];
      }
    }
  }
  EXPECT_GE(tried.size(), 30u);
}

TEST(SimplifyProof, merged_casts_of_integers_are_theorems) {
  constexpr Type types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16,
                            Type::I32,  Type::U32, Type::I64, Type::U64};
  z3::context z;
  Encoder encoder(z);
  for (const Type from : types)
    for (const Type through : types)
      for (const Type to : types) {
        const z3::expr x = z.bv_const("x", width_of(from));
        z3::solver solver(z);
        solver.add(encoder.cast(through, to, encoder.cast(from, through, x)) !=
                   encoder.cast(from, to, x));
        const bool is_true = solver.check() == z3::unsat;
        // The only valid merges that are not used: casts to bool through bits that bool lacks.
        if (casts_merge(from, through, to)) {
          EXPECT_TRUE(is_true) << name(from) << ", " << name(through) << ", " << name(to);
        } else if (is_true) {
          EXPECT_TRUE(through == Type::Bool || to == Type::Bool)
              << "missed: " << name(from) << ", " << name(through) << ", " << name(to);
        }
      }
}

}  // namespace
}  // namespace vyre::opt

#endif
