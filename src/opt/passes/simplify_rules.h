#pragma once

// The rules of simplify, as data: simplify_rules.def is the table; this header defines its text.
//
// A rule says that one expression may replace another. In its text, `x`, `y`, `z` and `c` are any
// values, other capital letters than W any constants, W is the width of T, MIN and MAX are T's
// limits, `true` and `false` bools, and a number is one of the type of its place (-1: all bits
// set). Words before brackets are the mnemonics of ops.def. On the right, and in the condition,
// expressions of constants only are computed when the rule is applied, by the shared eval().
//
// T is the type of every op whose type does not follow from something else in the text; the rule
// holds for each T of its class. Operands of commutative ops match in either order.
//
// Termination: weight() of an expression is the sum of the weights of its ops, constants and
// variables. Of every rule the right side weighs less than the left, and no variable occurs on the
// right more often than on the left, so that this is true whatever the variables stand for. Since
// the weight of an op includes that of everything it is computed from, the sum over a program falls
// with every rule. A right side makes one op at most, so no rule makes the program longer, even
// where others use what the left side was made from.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops.h"

namespace vyre::opt {

enum class RuleTypes : uint8_t { Int, Signed, Unsigned, Bool, Logic, Num, SignedNum, Float, Any };
bool contains(RuleTypes types, Type t);

/// How a rule was proved. Where its class has floats, those are always tested on cases.
enum class Proof : uint8_t {
  Z3,      // a theorem at 8, 16 and 32 bits
  Cases,   // every case at 8 and 16 bits and 10^8 of 32 and 64: division, which z3 does not do
  Floats,  // floats only
};

struct RuleText {
  std::string_view left, right;
  RuleTypes types;
  std::string_view condition;  // "" for none
  Proof proof;
};
std::span<const RuleText> rule_texts();

struct RuleNode {
  enum class Kind : uint8_t { Variable, Constant, Literal, Op };
  enum class Literal : uint8_t { Number, Width, Least, Greatest };
  enum class Of : uint8_t { Unknown, T, Bool, U32 };
  Kind kind = Kind::Variable;
  Literal literal = Literal::Number;
  /// The value's type; for an op, its T (for a comparison, the type of its operands).
  Of type = Of::Unknown;
  Opcode code = Opcode::Const;
  uint8_t index = 0;  // the number of a variable or constant
  uint8_t count = 0;
  bool is_constant = false;  // consists of constants only
  std::array<uint8_t, 4> operands = {};
  double number = 0;
};

struct Rule {
  static constexpr uint8_t nothing = 255;
  static constexpr size_t most_variables = 4;
  RuleText text;
  std::vector<RuleNode> nodes;
  uint8_t left = nothing, right = nothing, condition = nothing;
  uint8_t variables = 0, constants = 0;  // x, y, …; C, D, …

  const RuleNode& operator[](uint8_t i) const { return nodes[i]; }
  /// The type of a node's value for some T; for an op node that is not its T if it compares.
  Type value_type(uint8_t node, Type t) const;
  /// The T of an op node.
  Type op_type(uint8_t node, Type t) const;
  uint64_t literal_bits(uint8_t node, Type t) const;
  /// The value of a node that is_constant, given the constants.
  uint64_t compute(uint8_t node, Type t, std::span<const uint64_t> constants) const;
};

/// Parses the text of a rule. On failure returns none and an error message.
std::optional<Rule> parse_rule(const RuleText& text, std::string& error);

unsigned weight(Opcode code);
/// Returns the weight of an expression, each variable counted as 1.
unsigned weight(const Rule& rule, uint8_t node);

/// All rules, parsed at the first call.
std::span<const Rule> all_rules();
/// Returns the rules whose left side is this op, in the order of the table.
std::span<const uint16_t> rules_of(Opcode code);

}  // namespace vyre::opt
