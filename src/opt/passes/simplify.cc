#include "opt/passes/simplify.h"

#include <array>
#include <cassert>

#include "ir/eval/eval.h"
#include "ir/op_properties.h"
#include "opt/analysis/analysis_cache.h"
#include "opt/passes/fold_constants.h"
#include "opt/passes/simplify_ids.h"
#include "opt/passes/simplify_rules.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

using Kind = RuleNode::Kind;

/// The values and constants that a rule's text stands for in one match.
struct Match {
  Type t = Type::Void;
  std::array<ValueId, Rule::most_variables> values;
  std::array<uint64_t, Rule::most_variables> constants;
  uint8_t values_set = 0, constants_set = 0;  // by bit

  Match() { values.fill(none), constants.fill(0); }
};

struct State {
  Program& p;
  Rewriter r;
  const Ranges& ranges;
  ExactFloats exact;
  const OpId old_ops;  // those below are in the analyses, as are
  const ValueId old_values;
  std::vector<ValueId> origin;  // of new values: the one that they stand for

  State(Program& program, const Ranges& known)
      : p(program),
        r(program),
        ranges(known),
        old_ops(p.ops.next_id()),
        old_values(p.values.next_id()) {}

  /// The value from before the pass that a value is equal to, or none.
  ValueId old_value(ValueId v) const {
    if (v < old_values) return v;
    return v - old_values < origin.size() ? origin[v - old_values] : none;
  }
  bool has_known_range(ValueId v) const { return has_range(p.type(v)) && old_value(v) != none; }
  /// The range of a value with a known range at an op that was there from the beginning.
  ValueRange range(ValueId v, OpId where) const { return ranges.at(old_value(v), where); }
  void remember(ValueId made, ValueId stands_for) {
    origin.resize(p.values.next_id() - old_values, none);
    origin[made - old_values] = stands_for;
  }

  // ---- Rules.

  bool same(ValueId a, ValueId b) const {
    if (a == b) return true;
    const auto x = r.constant(a), y = r.constant(b);
    return x && y && *x == *y && p.type(a) == p.type(b);
  }

  /// A node of a rule's left side and the value that it must stand for.
  struct Pending {
    uint8_t node = 0;
    ValueId value = none;
  };

  using PendingList = std::array<Pending, 16>;

  /// Matches the first `n` pending nodes and their operands. Backtracks: tries the operands of a
  /// commutative op in the other order if the rest of the rule does not match, so that
  /// sub(add(x, y), y) matches (a + b) - a as well as (a + b) - b.
  bool match(const Rule& rule, PendingList pending, size_t n, Match& m) const {
    while (n > 0) {
      const auto [id, v] = pending[--n];
      const RuleNode& node = rule[id];
      if (node.kind != Kind::Op) {
        if (!match_leaf(rule, id, v, m)) return false;
        continue;
      }
      const OpId op = r.def(v);
      if (op == none || !match_head(rule, id, op, m)) return false;
      const bool swaps = info(node.code).commutative && node.count == 2;
      if (swaps) {
        Match direct = m;
        push_operands(node, op, false, pending, n);
        if (match(rule, pending, n + 2, direct)) {
          m = direct;
          return true;
        }
      }
      push_operands(node, op, swaps, pending, n);
      n += node.count;
    }
    return true;
  }

  /// The operands become pending nodes n, n + 1, ….
  void push_operands(const RuleNode& node, OpId op, bool swapped, PendingList& pending,
                     size_t n) const {
    assert(n + node.count <= pending.size());
    for (uint8_t i = 0; i < node.count; ++i)
      pending[n + i] = {node.operands[i], r.operand(op, swapped ? 1 - i : i)};
  }

  bool match_leaf(const Rule& rule, uint8_t id, ValueId v, Match& m) const {
    const RuleNode& node = rule[id];
    const uint8_t bit = uint8_t(1u << node.index);
    if (node.kind == Kind::Variable) {
      if (m.values_set & bit) return same(m.values[node.index], v);
      m.values_set |= bit;
      m.values[node.index] = v;
      return true;
    }
    const auto c = r.constant(v);
    if (!c) return false;
    if (node.kind == Kind::Literal) return *c == rule.literal_bits(id, m.t);
    if (m.constants_set & bit) return m.constants[node.index] == *c;
    m.constants_set |= bit;
    m.constants[node.index] = *c;
    return true;
  }

  /// The op is the node's, of a type that the rule holds for.
  bool match_head(const Rule& rule, uint8_t id, OpId op, Match& m) const {
    const RuleNode& node = rule[id];
    const Op& o = p.op(op);
    if (o.code != node.code || o.operands.count != node.count) return false;
    if (node.type != RuleNode::Of::T) return rule.op_type(id, m.t) == o.type;
    if (m.t != Type::Void) return m.t == o.type;
    if (!contains(rule.text.types, o.type)) return false;
    m.t = o.type;
    return true;
  }

  bool matches(const Rule& rule, OpId op, Match& m) const {
    PendingList pending;
    pending[0] = {rule.left, p.result(op)};
    return match(rule, pending, 1, m);
  }

  ValueId build(const Rule& rule, uint8_t id, const Match& m, OpId at) {
    const RuleNode& node = rule[id];
    if (node.kind == Kind::Variable) return m.values[node.index];
    if (node.is_constant)
      return r.insert_constant(at, rule.value_type(id, m.t), rule.compute(id, m.t, m.constants));
    std::array<ValueId, 4> operands{};
    for (uint8_t i = 0; i < node.count; ++i) operands[i] = build(rule, node.operands[i], m, at);
    return r.insert(at, node.code, rule.op_type(id, m.t), {operands.data(), node.count},
                    rule.value_type(id, m.t));
  }

  ValueId by_rule(OpId op) {
    for (const uint16_t i : rules_of(p.op(op).code)) {
      const Rule& rule = all_rules()[i];
      Match m;
      if (!matches(rule, op, m)) continue;
      if (rule.condition != Rule::nothing && !rule.compute(rule.condition, m.t, m.constants))
        continue;
      return build(rule, rule.right, m, op);
    }
    return none;
  }

  // ---- Conversions.

  ValueId by_conversion(OpId op) {
    const Opcode code = p.op(op).code;
    if (code != Opcode::Cast && code != Opcode::Bitcast) return none;
    const Type to = p.op(op).type;
    const ValueId inner = r.operand(op, 0);
    if (p.type(inner) == to) return inner;
    const OpId def = r.def(inner);
    if (def == none || p.op(def).code != code) return none;
    const ValueId x = r.operand(def, 0);
    const Type from = p.type(x), through = p.type(inner);
    if (!(code == Opcode::Cast ? casts_merge : bitcasts_merge)(from, through, to)) return none;
    if (from == to) return x;
    const ValueId operands[] = {x};
    return r.insert(op, code, to, operands, to);
  }

  // ---- Ranges.

  /// Returns a value that equals the op's because of the ranges of its operands. `where`: see
  /// range().
  ValueId by_range(OpId op, OpId where) {
    const Opcode code = p.op(op).code;
    const ValueId result = p.result(op);
    const Type type = p.type(result);
    if (op < old_ops && has_range(type) && ranges.of(result).is_constant())
      return r.insert_constant(op, type, bits_of(type, ranges.of(result).low()));
    if (code == Opcode::Select) return by_condition(op, where);
    if (p.op(op).operands.count == 0) return none;
    const ValueId x = r.operand(op, 0);
    if (!has_known_range(x)) return none;
    if (code == Opcode::Abs) return is_signed(type) && range(x, where).low() >= 0 ? x : none;
    if (code == Opcode::Cast) return by_round_trip(op, where);
    if (p.op(op).operands.count != 2) return none;
    const auto c = r.constant(r.operand(op, 1));
    if (!c) return none;
    const uint64_t mask = low_mask(width_of(type));
    const Wide limit = number(type, *c);
    switch (code) {
      case Opcode::And: return (~range(x, where).zeros & ~*c & mask) == 0 ? x : none;
      case Opcode::Or: return (*c & ~range(x, where).ones & mask) == 0 ? x : none;
      case Opcode::Min: return range(x, where).high() <= limit ? x : none;
      case Opcode::Max: return range(x, where).low() >= limit ? x : none;
      case Opcode::Rem: {
        if (limit <= 0) return none;
        const ValueRange known = range(x, where);
        return known.low() > -limit && known.high() < limit ? x : none;
      }
      default: return none;
    }
  }

  ValueId by_condition(OpId op, OpId where) {
    const ValueId c = r.operand(op, 0);
    if (r.constant(c) || !has_known_range(c)) return none;
    const ValueRange known = range(c, where);
    return known.is_constant() ? r.operand(op, known.low() != 0 ? 1 : 2) : none;
  }

  /// cast<T>(cast<U>(x)) with x of type T and inside U.
  ValueId by_round_trip(OpId op, OpId where) const {
    const ValueId inner = r.operand(op, 0);
    const OpId def = r.def(inner);
    if (def == none || p.op(def).code != Opcode::Cast || !is_integer(p.type(inner))) return none;
    const ValueId x = r.operand(def, 0);
    if (p.type(x) != p.op(op).type || !has_known_range(x)) return none;
    const ValueRange known = range(x, where);
    return known.low() >= least(p.type(inner)) && known.high() <= greatest(p.type(inner)) ? x
                                                                                          : none;
  }

  /// The condition of an `if` or assert that is known where it stands.
  void settle_condition(OpId op) {
    const ValueId c = r.operand(op, 0);
    if (!r.constant(c) && has_known_range(c)) {
      const ValueRange known = range(c, op);
      if (!known.is_constant()) return;
      const ValueId constant = r.insert_constant(op, Type::Bool, known.low() != 0);
      p.list(p.op(op).operands)[0] = constant;
    }
    if (p.op(op).code == Opcode::Assert && r.constant(r.operand(op, 0)) == 1u) r.remove(op);
  }

  // ---- One op.

  /// Rules make constants, and then ops of constants.
  ValueId by_constants(OpId op) {
    const auto bits = constant_result(p, r, op);
    return bits ? r.insert_constant(op, p.type(p.result(op)), *bits) : none;
  }

  void constant_to_the_right(OpId op) {
    const Op& o = p.op(op);
    if (o.operands.count != 2) return;
    if (!info(o.code).commutative && !is_ordered_comparison(o.code)) return;
    if (!r.constant(r.operand(op, 0)) || r.constant(r.operand(op, 1))) return;
    std::swap(p.list(o.operands)[0], p.list(o.operands)[1]);
    p.op(op).code = mirrored(o.code);
    r.mark_changed();
  }

  void run(const OpId where) {
    const ValueId result = p.result(where);
    for (OpId op = where;;) {
      constant_to_the_right(op);
      const ValueId first_new = ValueId(p.values.size());
      ValueId simpler = by_constants(op);
      if (simpler == none) simpler = by_range(op, where);
      if (simpler == none) simpler = by_conversion(op);
      if (simpler == none) simpler = simplify_ids(p, r, op);
      if (simpler == none) simpler = by_rule(op);
      if (simpler == none) return;
      r.replace(p.result(op), simpler);
      r.remove(op);
      // An existing value is used elsewhere, where less is known, and was already visited.
      if (simpler < first_new) return;
      remember(simpler, result);
      op = r.def(simpler);
      if (p.op(op).code == Opcode::Const) return;
    }
  }
};

/// True if every number of `from` exists in `to`.
bool holds(Type to, Type from) {
  if (from == to || from == Type::Bool) return true;
  if (from == Type::F32) return to == Type::F64;
  if (!is_integer(from) || !is_integer(to)) return false;
  return least(to) <= least(from) && greatest(from) <= greatest(to);
}

}  // namespace

bool casts_merge(Type from, Type through, Type to) {
  if (!is_value(from) || !is_value(through) || !is_value(to)) return false;
  if (holds(through, from)) return true;
  // Modulo 2^n, then modulo 2^m with m ≤ n.
  return is_integer(from) && is_integer(through) && is_integer(to) &&
         width_of(to) <= width_of(through);
}

bool bitcasts_merge(Type from, Type through, Type to) {
  if (width_of(from) != width_of(through) || width_of(through) != width_of(to)) return false;
  // An integer that is bitcast to a float and back changes if it is a NaN other than the canonical
  // one.
  return is_integer(through) || from == through;
}

Result<bool> simplify(Program& program, PassContext& context) {
  State s(program, context.facts.ranges());
  for (const OpId op : s.r.ops()) {
    WorkDeadline::poll_current();
    const Opcode code = program.op(op).code;
    if (code == Opcode::If || code == Opcode::Assert)
      s.settle_condition(op);
    else if (is_pure(code) && code != Opcode::Const)
      s.run(op);
  }
  return s.r.finish();
}

}  // namespace vyre::opt
