#include "codegen/llvm/likely_strides.h"

#include <algorithm>
#include <bit>

namespace vyre::emit_llvm {

namespace {
constexpr uint8_t max_depth = 12;  // ops between a proved stride and a likely one
}

class LikelyStrideFinder {
 public:
  LikelyStrideFinder(const Prepared& k, const Shapes& shapes, LikelyStrides& to)
      : k_(k), p_(k.program), shapes_(shapes), to_(to) {}

  void run() {
    to_.slope_.resize(p_.values.size());
    to_.wanted_.resize(p_.values.size());
    to_.deferred_.resize(p_.values.size());
    depth_.resize(p_.values.size());
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      if (what == Visit::EnterBlock)
        for (const ValueId v : p_.args(block)) to_.slope_[v] = proved(v);
      if (what == Visit::Op) visit(op);
      if (what == Visit::LeaveBlock) leave(block);
    });
    for (const OpId op : order_)
      if (has_strided_index(p_, op)) want(p_.operand(op, 0));
    defer();
  }

 private:
  using Slope = std::optional<double>;

  /// A slope this small means that few subgroups contain a step.
  double settled(double slope) const { return std::abs(slope) * 2 * k_.lanes < 1 ? 0 : slope; }

  Slope proved(ValueId v) const {
    if (!is_integer(p_.type(v))) return std::nullopt;
    if (k_.uniform(v)) return 0.0;
    if (const auto stride = shapes_.stride(v)) return static_cast<double>(*stride);
    return std::nullopt;
  }

  void visit(OpId id) {
    order_.push_back(id);
    for (const ValueId v : p_.results(id)) to_.slope_[v] = proved(v);
    if (!is_pure(p_.op(id).code)) return;
    const ValueId v = p_.result(id);
    if (!is_integer(p_.type(v)) || to_.slope_[v]) return;
    for (const ValueId u : p_.operands(id)) depth_[v] = std::max(depth_[v], depth_[u]);
    if (++depth_[v] <= max_depth) to_.slope_[v] = estimate(id);
  }

  /// The results of an `if` depend on both branches.
  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none || p_.op(owner).code != Opcode::If) return;
    const BlockId first = p_.op(owner).first_block;
    if (block != first + 1) return;
    const OpId yes = p_.blocks[first].last, no = p_.blocks[first + 1].last;
    if (p_.op(yes).code != Opcode::Yield || p_.op(no).code != Opcode::Yield) return;
    for (uint32_t i = 0; i < p_.op(owner).results.count; ++i) {
      const ValueId v = p_.result(owner, i);
      if (!is_integer(p_.type(v)) || to_.slope_[v]) continue;
      const ValueId a = p_.operand(yes, i), b = p_.operand(no, i);
      depth_[v] = std::max(depth_[a], depth_[b]) + 1;
      if (depth_[v] <= max_depth) to_.slope_[v] = either(to_.slope_[a], to_.slope_[b]);
    }
  }

  /// One of two: the one that advances.
  static Slope either(Slope a, Slope b) {
    if (!a || !b) return std::nullopt;
    if (*a == *b || *b == 0) return a;
    return *a == 0 ? b : std::nullopt;
  }

  std::optional<uint64_t> constant(ValueId v) const {
    const OpId def = p_.values[v].def;
    if (def == none || p_.op(def).code != Opcode::Const) return std::nullopt;
    return p_.op(def).attr;
  }

  /// The slope of a remainder. Short periods break every subgroup.
  Slope within_period(Slope slope, std::optional<double> period) const {
    if (slope && period && std::abs(*slope) * 2 * k_.lanes > *period) return std::nullopt;
    return slope;
  }

  Slope estimate(OpId id) const {
    const Op& op = p_.op(id);
    const auto in = [&](uint32_t i) { return to_.slope_[p_.operand(id, i)]; };
    const auto value = [&](uint32_t i) { return constant(p_.operand(id, i)); };
    const auto number = [&](uint32_t i) {
      const auto c = value(i);
      return c ? std::optional<double>(static_cast<double>(*c)) : std::nullopt;
    };
    if (op.code == Opcode::Select) return either(in(1), in(2));
    bool all_zero = true;
    for (uint32_t i = 0; i < op.operands.count; ++i) {
      if (!in(i)) return std::nullopt;
      all_zero = all_zero && *in(i) == 0;
    }
    if (all_zero) return 0.0;
    const unsigned width = width_of(p_.type(p_.result(id)));
    switch (op.code) {
      case Opcode::Add: return *in(0) + *in(1);
      case Opcode::Sub: return *in(0) - *in(1);
      case Opcode::Mul:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = number(i); c && *c < (1 << 20)) return *in(1 - i) * *c;
        return std::nullopt;
      case Opcode::MulHi:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = number(i))
            return *in(1 - i) * std::ldexp(*c, -static_cast<int>(width));
        return std::nullopt;
      case Opcode::Shl:
        if (const auto c = value(1); c && *c < std::min(20u, width))
          return std::ldexp(*in(0), static_cast<int>(*c));
        return std::nullopt;
      case Opcode::Shr:
        if (const auto c = value(1); c && *c < width)
          return settled(std::ldexp(*in(0), -static_cast<int>(*c)));
        return std::nullopt;
      case Opcode::Div:
        if (*in(1) != 0) return std::nullopt;
        return value(1) ? settled(*in(0) / std::max(*number(1), 1.0)) : 0.0;
      case Opcode::Rem:
        if (*in(1) != 0) return std::nullopt;
        return within_period(in(0), number(1));
      case Opcode::And:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = value(i); c && std::has_single_bit(*c + 1))
            return within_period(in(1 - i), static_cast<double>(*c) + 1);
        return std::nullopt;
      case Opcode::Min:
      case Opcode::Max: return either(in(0), in(1));
      case Opcode::Clamp: return *in(1) == 0 && *in(2) == 0 ? in(0) : std::nullopt;
      case Opcode::Cast: return in(0);
      default: return std::nullopt;
    }
  }

  void want(ValueId v) {
    if (!is_integer(p_.type(v)) || !to_.slope_[v] || to_.wanted_[v] || proved(v)) return;
    to_.wanted_[v] = true;
    const OpId def = p_.values[v].def;
    if (def == none) return;
    if (p_.op(def).code == Opcode::If) {
      for (uint32_t b = 0; b < 2; ++b)
        want(p_.operand(p_.blocks[p_.op(def).first_block + b].last, p_.values[v].index));
    } else {
      for (const ValueId u : p_.operands(def)) want(u);
    }
  }

  /// Uses come after definitions, so the reverse order sees all uses first.
  void defer() {
    IdMap<ValueId, uint32_t> good_uses(p_.values.size());
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const OpId id = *at;
      if (has_strided_index(p_, id)) ++good_uses[p_.operand(id, 0)];
      if (!is_pure(p_.op(id).code)) continue;
      const ValueId v = p_.result(id);
      if (!to_.wanted_[v] || good_uses[v] != k_.uses[v]) continue;
      to_.deferred_[v] = true;
      for (const ValueId u : p_.operands(id)) ++good_uses[u];
    }
  }

  const Prepared& k_;
  const Program& p_;
  const Shapes& shapes_;
  LikelyStrides& to_;
  std::vector<OpId> order_;
  IdMap<ValueId, uint8_t> depth_;  // by value: ops since a proved stride
};

LikelyStrides::LikelyStrides(const Prepared& kernel, const Shapes& shapes) {
  LikelyStrideFinder(kernel, shapes, *this).run();
}

bool has_strided_index(const Program& p, OpId op) {
  switch (p.op(op).code) {
    case Opcode::Load:
    case Opcode::LoadN:
    case Opcode::LoadAs:
    case Opcode::Store:
    case Opcode::StoreN: return p.buffer_of(op).role != Role::Private;
    default: return false;
  }
}

}  // namespace vyre::emit_llvm
