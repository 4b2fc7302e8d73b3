#include "opt/passes/simplify_rules.h"

#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <charconv>

#include "ir/eval/eval.h"
#include "opt/analysis/value_range.h"

namespace vyre::opt {
namespace {

constexpr RuleText table[] = {
#define VYRE_RULE(left, right, types, condition, proof) \
  {left, right, RuleTypes::types, condition, Proof::proof},
#include "opt/passes/simplify_rules.def"
#undef VYRE_RULE
};

using Kind = RuleNode::Kind;
using Of = RuleNode::Of;
using Literal = RuleNode::Literal;

bool is_comparison(Opcode code) { return info(code).result == 'B'; }

class Parser {
 public:
  Parser(const RuleText& text, std::string& error) : error_(error) { rule_.text = text; }

  std::optional<Rule> run() {
    rule_.left = parse(rule_.text.left);
    rule_.right = parse(rule_.text.right);
    if (!rule_.text.condition.empty()) rule_.condition = parse(rule_.text.condition);
    if (!error_.empty()) return std::nullopt;
    // A variable's type may be known from only one of its uses, so infer all sides twice.
    for (int round = 0; round < 2; ++round)
      for (const uint8_t root : {rule_.left, rule_.right, rule_.condition})
        if (root != Rule::nothing) infer(root, Of::Unknown);
    unify_sides();
    for (const uint8_t root : {rule_.left, rule_.right, rule_.condition})
      if (root != Rule::nothing) settle(root);
    if (rule_[rule_.left].kind != Kind::Op) error_ = "the left side must be an op";
    if (rule_.condition != Rule::nothing && !rule_[rule_.condition].is_constant)
      error_ = "a condition is about constants";
    if (!error_.empty()) return std::nullopt;
    return std::move(rule_);
  }

 private:
  uint8_t fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return 0;
  }

  uint8_t add(const RuleNode& node) {
    if (rule_.nodes.size() >= Rule::nothing) return fail("too long");
    rule_.nodes.push_back(node);
    return uint8_t(rule_.nodes.size() - 1);
  }

  uint8_t parse(std::string_view text) {
    at_ = text;
    const uint8_t node = expression();
    skip();
    if (!at_.empty()) fail(fmt::format("`{}` is too much", at_));
    return node;
  }

  void skip() {
    while (!at_.empty() && at_[0] == ' ') at_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (at_.empty() || at_[0] != c) return false;
    at_.remove_prefix(1);
    return true;
  }

  uint8_t expression() {
    skip();
    size_t n = 0;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    };
    while (n < at_.size() && belongs(at_[n])) ++n;
    const std::string_view word = at_.substr(0, n);
    if (word.empty()) return fail(fmt::format("an expression is missing at `{}`", at_));
    at_.remove_prefix(n);
    return take('(') ? op(word) : leaf(word);
  }

  uint8_t op(std::string_view word) {
    const Opcode* code = find_op(word);
    if (!code || !is_pure(*code)) return fail(fmt::format("`{}` is not a pure op", word));
    RuleNode node;
    node.kind = Kind::Op;
    node.code = *code;
    node.is_constant = true;
    do {
      if (node.count == 4) return fail("too many operands");
      const uint8_t operand = expression();
      if (!error_.empty()) return 0;
      node.operands[node.count++] = operand;
      node.is_constant &= rule_[operand].is_constant;
    } while (take(','));
    if (!take(')')) return fail(fmt::format("`)` is missing at `{}`", at_));
    if (node.count != info(*code).operands.size())
      return fail(fmt::format("`{}` has other operands", word));
    return add(node);
  }

  uint8_t leaf(std::string_view word) {
    RuleNode node;
    if (word == "true" || word == "false") {
      node.kind = Kind::Literal;
      node.type = Of::Bool;
      node.number = word == "true";
    } else if (word == "MIN" || word == "MAX" || word == "W") {
      node.kind = Kind::Literal;
      node.literal = word == "W"     ? Literal::Width
                     : word == "MIN" ? Literal::Least
                                     : Literal::Greatest;
    } else if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0]))) {
      const bool is_constant = std::isupper(static_cast<unsigned char>(word[0]));
      std::string& names = is_constant ? constants_ : variables_;
      size_t i = names.find(word[0]);
      if (i == std::string::npos) {
        i = names.size();
        names += word[0];
        ++(is_constant ? rule_.constants : rule_.variables);
      }
      if (names.size() > Rule::most_variables) return fail("too many variables");
      node.kind = is_constant ? Kind::Constant : Kind::Variable;
      node.index = uint8_t(i);
    } else {
      node.kind = Kind::Literal;
      const auto [end, wrong] =
          std::from_chars(word.data(), word.data() + word.size(), node.number);
      if (wrong != std::errc() || end != word.data() + word.size())
        return fail(fmt::format("`{}` means nothing", word));
    }
    node.is_constant = node.kind != Kind::Variable;
    return add(node);
  }

  // ---- Types.

  Of& known(const RuleNode& leaf) {
    return leaf.kind == Kind::Variable ? variable_types_[leaf.index] : constant_types_[leaf.index];
  }

  /// Infers the type of the node's value from its operands, or from the expected type.
  Of infer(uint8_t id, Of expected) {
    const RuleNode node = rule_.nodes[id];
    if (node.kind == Kind::Literal) {
      if (node.type == Of::Unknown) rule_.nodes[id].type = expected;
      return rule_.nodes[id].type;
    }
    if (node.kind != Kind::Op) {
      Of& type = known(node);
      if (type == Of::Unknown) type = expected;
      return type;
    }
    const OpInfo& row = info(node.code);
    Of own = node.type;
    if (own == Of::Unknown && !is_comparison(node.code)) own = expected;
    for (int round = 0; round < 2; ++round)
      for (uint8_t i = 0; i < node.count; ++i) {
        const char letter = row.operands[i];
        const Of is = infer(node.operands[i], letter == 'B'   ? Of::Bool
                                              : letter == 'U' ? Of::U32
                                                              : own);
        if (letter == 'T' && own == Of::Unknown) own = is;
      }
    rule_.nodes[id].type = own;
    return is_comparison(node.code) ? Of::Bool : own;
  }

  /// Both sides have one type.
  void unify_sides() {
    const Of left = infer(rule_.left, Of::Unknown);
    const Of right = infer(rule_.right, left);
    if (left == Of::Unknown && right != Of::Unknown) infer(rule_.left, right);
  }

  /// Types that are still open become T.
  void settle(uint8_t id) {
    RuleNode& node = rule_.nodes[id];
    if (node.kind == Kind::Variable || node.kind == Kind::Constant) {
      Of& type = known(node);
      if (type == Of::Unknown) type = Of::T;
      node.type = type;
    } else if (node.type == Of::Unknown) {
      node.type = Of::T;
    }
    for (uint8_t i = 0; i < node.count; ++i) settle(node.operands[i]);
  }

  std::string& error_;
  Rule rule_;
  std::string_view at_;
  std::string variables_, constants_;
  std::array<Of, 8> variable_types_{}, constant_types_{};
};

struct RuleSet {
  std::vector<Rule> rules;
  std::array<std::vector<uint16_t>, 256> by_code;

  RuleSet() {
    for (const RuleText& text : table) {
      std::string error;
      auto rule = parse_rule(text, error);
      assert(rule);
      if (!rule) continue;
      by_code[size_t((*rule)[rule->left].code)].push_back(uint16_t(rules.size()));
      rules.push_back(std::move(*rule));
    }
  }
};

const RuleSet& rule_set() {
  static const RuleSet set;
  return set;
}

}  // namespace

bool contains(RuleTypes types, Type t) {
  switch (types) {
    case RuleTypes::Int: return is_integer(t);
    case RuleTypes::Signed: return is_signed(t);
    case RuleTypes::Unsigned: return is_unsigned(t);
    case RuleTypes::Bool: return t == Type::Bool;
    case RuleTypes::Logic: return is_integer(t) || t == Type::Bool;
    case RuleTypes::Num: return is_numeric(t);
    case RuleTypes::SignedNum: return is_signed(t) || is_float(t);
    case RuleTypes::Float: return is_float(t);
    case RuleTypes::Any: return is_value(t);
  }
  return false;
}

std::span<const RuleText> rule_texts() { return table; }

std::optional<Rule> parse_rule(const RuleText& text, std::string& error) {
  error.clear();
  return Parser(text, error).run();
}

Type Rule::op_type(uint8_t node, Type t) const {
  switch (nodes[node].type) {
    case Of::Bool: return Type::Bool;
    case Of::U32: return Type::U32;
    default: return t;
  }
}

Type Rule::value_type(uint8_t node, Type t) const {
  if (nodes[node].kind == Kind::Op && is_comparison(nodes[node].code)) return Type::Bool;
  return op_type(node, t);
}

uint64_t Rule::literal_bits(uint8_t node, Type t) const {
  const RuleNode& n = nodes[node];
  const Type type = op_type(node, t);
  switch (n.literal) {
    case Literal::Width: return width_of(t);
    case Literal::Least: return bits_of(type, least(type));
    case Literal::Greatest: return bits_of(type, greatest(type));
    case Literal::Number: break;
  }
  if (type == Type::F32) return std::bit_cast<uint32_t>(float(n.number));
  if (type == Type::F64) return std::bit_cast<uint64_t>(n.number);
  return uint64_t(int64_t(n.number)) & low_mask(width_of(type));
}

uint64_t Rule::compute(uint8_t node, Type t, std::span<const uint64_t> values) const {
  const RuleNode& n = nodes[node];
  if (n.kind == Kind::Constant) return values[n.index];
  if (n.kind == Kind::Literal) return literal_bits(node, t);
  assert(n.kind == Kind::Op);
  std::array<uint64_t, 4> in{};
  for (uint8_t i = 0; i < n.count; ++i) in[i] = compute(n.operands[i], t, values);
  return eval_bits(n.code, op_type(node, t), value_type(n.operands[0], t), in.data(), n.count);
}

unsigned weight(Opcode code) {
  switch (code) {
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::CeilDiv: return 9;
    case Opcode::Fma: return 8;
    case Opcode::Mul:
    case Opcode::MulHi: return 7;
    case Opcode::Extract:
    case Opcode::Insert:
    case Opcode::Clamp:
    case Opcode::Select:
    case Opcode::Sub: return 5;
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::Not:
    case Opcode::Eq:
    case Opcode::Ne: return 3;
    default: return 4;
  }
}

unsigned weight(const Rule& rule, uint8_t node) {
  const RuleNode& n = rule[node];
  if (n.is_constant || n.kind != Kind::Op) return 1;
  unsigned sum = weight(n.code);
  for (uint8_t i = 0; i < n.count; ++i) sum += weight(rule, n.operands[i]);
  return sum;
}

std::span<const Rule> all_rules() { return rule_set().rules; }
std::span<const uint16_t> rules_of(Opcode code) { return rule_set().by_code[size_t(code)]; }

}  // namespace vyre::opt
