#include "opt/passes/tile_index.h"

namespace vyre::opt {

std::optional<uint32_t> TileIndex::constant(ValueId v) const {
  const OpId op = p_.values[v].def;
  if (op == none || p_.op(op).code != Opcode::Const) return std::nullopt;
  return uint32_t(p_.op(op).attr);
}

/// Without a term of the workgroup, the value itself.
TileIndex::Split TileIndex::split(ValueId v, int depth) {
  if (const auto known = splits_.find(v); known != splits_.end()) return known->second;
  const OpId op = p_.values[v].def;
  std::optional<Split> s;
  if (op != none && depth < max_depth) s = split_op(op, depth);
  if (!s) s = {0, p_.type(v) == Type::U32 ? v : b_.op(Opcode::Cast, Type::U32, {v})};
  splits_[v] = *s;
  return *s;
}

/// Returns nothing if the op has no term of the workgroup, or is unsupported.
std::optional<TileIndex::Split> TileIndex::split_op(OpId op, int depth) {
  const Op o = p_.op(op);
  if (o.code == Opcode::WorkgroupId && o.attr == 0) return Split{1, none};
  if (o.code == Opcode::GlobalId && o.attr == 0)
    return Split{p_.workgroup[0], b_.op(Opcode::LocalId, Type::Void, {}, 0)};
  if (o.results.count != 1 || !is_integer(p_.type(p_.result(op))) ||
      width_of(p_.type(p_.result(op))) < 32 || o.operands.count == 0)
    return std::nullopt;
  const ValueId x = p_.operand(op, 0);
  if (!is_integer(p_.type(x)) || width_of(p_.type(x)) < 32) return std::nullopt;
  if (o.code == Opcode::Cast) return split(x, depth + 1);
  if (o.operands.count != 2) return std::nullopt;
  const ValueId y = p_.operand(op, 1);
  switch (o.code) {
    case Opcode::Add:
    case Opcode::Sub: {
      const Split a = split(x, depth + 1), b = split(y, depth + 1);
      if (a.group == 0 && b.group == 0) return std::nullopt;
      return sum(o.code, a, b);
    }
    case Opcode::Mul:
      for (const auto& [value, factor] : {std::pair(x, constant(y)), std::pair(y, constant(x))})
        if (factor) {
          const Split a = split(value, depth + 1);
          if (a.group == 0) return std::nullopt;
          return scaled(a, *factor);
        }
      return std::nullopt;
    case Opcode::Shl:
      if (const auto by = constant(y)) {
        const uint32_t amount = *by & (width_of(p_.type(x)) - 1);
        const Split a = split(x, depth + 1);
        if (a.group == 0 || amount >= 32) return std::nullopt;
        return scaled(a, uint32_t{1} << amount);
      }
      return std::nullopt;
    default: return std::nullopt;
  }
}

TileIndex::Split TileIndex::sum(Opcode code, const Split& a, const Split& b) {
  const uint32_t group = code == Opcode::Add ? a.group + b.group : a.group - b.group;
  if (b.rest == none) return {group, a.rest};
  if (a.rest != none) return {group, b_.op(code, Type::U32, {a.rest, b.rest})};
  if (code == Opcode::Add) return {group, b.rest};
  return {group, b_.op(code, Type::U32, {constant_u32(0), b.rest})};
}

TileIndex::Split TileIndex::scaled(const Split& a, uint32_t factor) {
  if (a.rest == none) return {a.group * factor, none};
  return {a.group * factor, b_.op(Opcode::Mul, Type::U32, {a.rest, constant_u32(factor)})};
}

ValueId TileIndex::rewrite(ValueId index, int64_t stride, int64_t first) {
  const Split s = split(index, 0);
  ValueId moved = s.rest == none ? constant_u32(0) : s.rest;
  // The rest of the tile's base: terms that the walk did not find, and the offset.
  if (const uint32_t left = uint32_t(stride) - s.group; left != 0) {
    const ValueId group = b_.op(Opcode::WorkgroupId, Type::Void, {}, 0);
    const ValueId base = b_.op(Opcode::Mul, Type::U32, {group, constant_u32(left)});
    moved = b_.op(Opcode::Sub, Type::U32, {moved, base});
  }
  if (uint32_t(first) != 0)
    moved = b_.op(Opcode::Sub, Type::U32, {moved, constant_u32(uint32_t(first))});
  return moved;
}

}  // namespace vyre::opt
