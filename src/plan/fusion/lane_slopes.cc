#include "plan/fusion/lane_slopes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vyre::plan {
namespace {

constexpr double vector = 32;  // invocations that a break in a slope should not fall into
constexpr int max_passes = 4;  // over a loop body, until the slopes of carried values are settled

}  // namespace

class LaneSlopeFinder {
 public:
  using Value = LaneSlopes::Value;
  using Slope = LaneSlopes::Slope;

  LaneSlopeFinder(const Program& p, const LaneSlopes::Number& number, IdMap<ValueId, Value>& values)
      : p_(p), number_(number), values_(values) {}

  void run() { block(body_block); }

 private:
  Value& value(ValueId v) { return values_[v]; }

  void block(BlockId id) {
    for (OpId op = p_.blocks[id].first; op != none; op = p_.op(op).next) visit(op);
  }

  void visit(OpId id) {
    const Op& op = p_.op(id);
    switch (op.code) {
      case Opcode::Region: return block(op.first_block);
      case Opcode::If: return if_(id);
      case Opcode::For: return loop(id, 3, op.first_block, op.first_block);
      case Opcode::While: return loop(id, 0, op.first_block, op.first_block + 1);
      default: break;
    }
    if (is_pure(op.code)) {
      value(p_.result(id)) = estimate(id);
      return;
    }
    const bool uniform = is_uniform(id);
    for (const ValueId v : p_.results(id)) value(v) = uniform ? Value{0.0, {}} : Value{};
  }

  /// True if an op that is not pure has one result for all: a load at one index, or a vote of the
  /// subgroup.
  bool is_uniform(OpId id) const {
    const Op& op = p_.op(id);
    const Effect effect = info(op.code).effect;
    if (effect == Effect::Read || op.code == Opcode::UniformLoad)
      return values_[p_.operand(id, 0)].slope == 0.0 && p_.buffer_of(id).role != Role::Private;
    switch (op.code) {
      case Opcode::SubgroupScanAdd:
      case Opcode::SubgroupShuffle:
      case Opcode::SubgroupShuffleUp:
      case Opcode::SubgroupShuffleDown:
      case Opcode::SubgroupShuffleXor: return false;
      default: return effect == Effect::Convergent;
    }
  }

  /// One of two: the one that advances.
  static Slope either(Slope a, Slope b) {
    if (!a || !b) return std::nullopt;
    if (*a == *b || *b == 0) return a;
    return *a == 0 ? b : std::nullopt;
  }

  void if_(OpId id) {
    const Op& op = p_.op(id);
    block(op.first_block);
    block(op.first_block + 1);
    const OpId yes = p_.blocks[op.first_block].last, no = p_.blocks[op.first_block + 1].last;
    for (uint32_t i = 0; i < op.results.count; ++i) {
      const bool a = p_.op(yes).code == Opcode::Yield, b = p_.op(no).code == Opcode::Yield;
      Value& to = value(p_.result(id, i));
      if (a && b)
        to = {either(value(p_.operand(yes, i)).slope, value(p_.operand(no, i)).slope), {}};
      else if (a || b)
        to = value(p_.operand(a ? yes : no, i));
    }
  }

  /// `bounds`: operands before those that are carried. `test` is the block that takes the carried
  /// values.
  void loop(OpId id, uint32_t bounds, BlockId test, BlockId body) {
    const Op& op = p_.op(id);
    const auto args = p_.args(test);
    const uint32_t counter = bounds > 0 ? 1 : 0;
    if (counter) value(args[0]) = {value(p_.operand(id, 0)).slope, {}};
    const uint32_t carried = op.operands.count - bounds;
    for (uint32_t i = 0; i < carried && counter + i < args.size(); ++i)
      value(args[counter + i]) = {value(p_.operand(id, bounds + i)).slope, {}};
    if (body != test) {
      const auto inner = p_.args(body);
      for (uint32_t i = 0; i < inner.size() && i < args.size(); ++i)
        value(inner[i]) = value(args[i]);
    }
    for (int pass = 0; pass < max_passes; ++pass) {
      block(test);
      if (body != test) block(body);
      if (!widen(args, counter, carried, p_.blocks[body].last, pass + 2 >= max_passes)) break;
    }
    for (uint32_t i = 0; i < op.results.count && counter + i < args.size(); ++i)
      value(p_.result(id, i)) = value(args[counter + i]);
  }

  /// Removes slopes of carried values that the body changes. Returns whether there were any.
  template <class Args>
  bool widen(const Args& args, uint32_t counter, uint32_t carried, OpId last, bool all) {
    bool changed = false;
    const bool yields = p_.op(last).code == Opcode::Yield;
    for (uint32_t i = 0; i < carried && counter + i < args.size(); ++i) {
      Value& to = value(args[counter + i]);
      if (!to.slope) continue;
      if (!yields || i >= p_.op(last).operands.count) continue;
      const Value& from = value(p_.operand(last, i));
      if (from.slope == to.slope && !all) continue;
      if (from.slope == to.slope) continue;
      to = {};
      changed = true;
    }
    return changed;
  }

  static double settled(double slope) { return std::abs(slope) * 2 * vector < 1 ? 0 : slope; }
  static Slope within_period(Slope slope, std::optional<double> period) {
    if (slope && period && std::abs(*slope) * 2 * vector > *period) return std::nullopt;
    return slope;
  }

  Value estimate(OpId id) {
    const Op& op = p_.op(id);
    switch (op.code) {
      case Opcode::GlobalId:
      case Opcode::LocalId:
        // In rows that are shorter than a vector, y advances, too.
        return {op.attr == 0                                                  ? 1.0
                : op.attr == 1 && p_.workgroup[0] == 1 && p_.workgroup[1] > 1 ? 1.0
                                                                              : 0.0,
                {}};
      case Opcode::LaneId: return {1.0, {}};
      case Opcode::Const: return {0.0, constant(op)};
      default: break;
    }
    if (op.operands.count == 0) return {0.0, number_(op)};
    return {slope(id), number(id)};
  }

  static std::optional<double> constant(const Op& op) {
    if (!is_integer(op.type)) return std::nullopt;
    const unsigned unused = 64 - width_of(op.type);
    return is_signed(op.type) ? double(int64_t(op.attr << unused) >> unused) : double(op.attr);
  }

  /// Sums and products of known numbers; a launch has few others.
  std::optional<double> number(OpId id) {
    const Op& op = p_.op(id);
    if (op.code == Opcode::Cast) return value(p_.operand(id, 0)).number;
    if (op.operands.count != 2) return std::nullopt;
    const auto a = value(p_.operand(id, 0)).number, b = value(p_.operand(id, 1)).number;
    if (!a || !b) return std::nullopt;
    switch (op.code) {
      case Opcode::Add: return *a + *b;
      case Opcode::Sub: return *a - *b;
      case Opcode::Mul: return *a * *b;
      case Opcode::Div: return *b == 0 ? std::nullopt : std::optional(std::trunc(*a / *b));
      case Opcode::Min: return std::min(*a, *b);
      case Opcode::Max: return std::max(*a, *b);
      case Opcode::Shl: return std::ldexp(*a, int(std::fmod(*b, 64)));
      case Opcode::Shr: return std::floor(std::ldexp(*a, -int(std::fmod(*b, 64))));
      default: return std::nullopt;
    }
  }

  Slope slope(OpId id) {
    const Op& op = p_.op(id);
    const auto in = [&](uint32_t i) { return value(p_.operand(id, i)).slope; };
    const auto known = [&](uint32_t i) { return value(p_.operand(id, i)).number; };
    if (op.code == Opcode::Select) return either(in(1), in(2));
    bool all_zero = true;
    for (uint32_t i = 0; i < op.operands.count; ++i) {
      if (!in(i)) return std::nullopt;
      all_zero = all_zero && *in(i) == 0;
    }
    if (all_zero) return 0.0;
    const Type type = p_.type(p_.result(id));
    if (!is_integer(type)) return std::nullopt;
    switch (op.code) {
      case Opcode::Add: return *in(0) + *in(1);
      case Opcode::Sub: return *in(0) - *in(1);
      case Opcode::Mul:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = known(i)) return *in(1 - i) * *c;
        return std::nullopt;
      case Opcode::Shl:
        if (const auto c = known(1)) return std::ldexp(*in(0), int(std::fmod(*c, width_of(type))));
        return std::nullopt;
      case Opcode::Shr:
        if (const auto c = known(1))
          return settled(std::ldexp(*in(0), -int(std::fmod(*c, width_of(type)))));
        return std::nullopt;
      case Opcode::Div:
        if (*in(1) != 0) return std::nullopt;
        return known(1) ? settled(*in(0) / std::max(*known(1), 1.0)) : 0.0;
      case Opcode::Rem:
        if (*in(1) != 0) return std::nullopt;
        return within_period(in(0), known(1));
      case Opcode::And:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = known(i); c && *c >= 0 && std::has_single_bit(uint64_t(*c) + 1))
            return within_period(in(1 - i), *c + 1);
        return std::nullopt;
      case Opcode::Min:
      case Opcode::Max: return either(in(0), in(1));
      case Opcode::Clamp: return *in(1) == 0 && *in(2) == 0 ? in(0) : std::nullopt;
      case Opcode::Cast: return in(0);
      default: return std::nullopt;
    }
  }

  const Program& p_;
  const LaneSlopes::Number& number_;
  IdMap<ValueId, Value>& values_;
};

LaneSlopes::LaneSlopes(const Program& program, const Number& number)
    : values_(program.values.size()) {
  LaneSlopeFinder(program, number, values_).run();
}

}  // namespace vyre::plan
