#include "opt/passes/simplify_ids.h"

#include <optional>
#include <utility>

namespace vyre::opt {
namespace {

struct Ids {
  Program& p;
  Rewriter& r;

  /// The dimension of an id, or none.
  std::optional<uint32_t> dimension(ValueId v, Opcode code) const {
    const OpId op = r.def(v);
    if (op == none || p.op(op).code != code) return std::nullopt;
    return uint32_t(p.op(op).attr);
  }

  /// The dimension of workgroup_id.d * workgroup_size.d, however it is written.
  std::optional<uint32_t> dimension_of_base(ValueId v) const {
    const OpId op = r.def(v);
    if (op == none) return std::nullopt;
    const Opcode code = p.op(op).code;
    const bool is_scaled = code == Opcode::Mul || code == Opcode::Shl;
    const auto d = dimension(is_scaled ? r.operand(op, 0) : v, Opcode::WorkgroupId);
    if (!d) return std::nullopt;
    uint64_t factor = 1;
    if (is_scaled) {
      const auto c = r.constant(r.operand(op, 1));
      if (!c) return std::nullopt;
      factor = code == Opcode::Mul ? *c : uint64_t{1} << (*c & 31);
    }
    return factor == p.workgroup[*d] ? d : std::nullopt;
  }

  ValueId insert_id(OpId at, Opcode code, uint32_t d) {
    return r.insert(at, code, Type::Void, {}, Type::U32, d);
  }

  ValueId insert_base(OpId at, uint32_t d) {
    const ValueId group = insert_id(at, Opcode::WorkgroupId, d);
    if (p.workgroup[d] == 1) return group;
    const ValueId operands[] = {group, r.insert_constant(at, Type::U32, p.workgroup[d])};
    return r.insert(at, Opcode::Mul, Type::U32, operands, Type::U32);
  }

  /// global_id.d + z or global_id.d - z, less the base: the same of local_id.d.
  ValueId less_base(OpId op, ValueId sum, ValueId base) {
    const OpId def = r.def(sum);
    const auto d = dimension_of_base(base);
    if (!d || def == none) return none;
    const Opcode code = p.op(def).code;
    if (code != Opcode::Add && code != Opcode::Sub) return none;
    ValueId x = r.operand(def, 0), z = r.operand(def, 1);
    if (code == Opcode::Add && dimension(x, Opcode::GlobalId) != d) std::swap(x, z);
    if (dimension(x, Opcode::GlobalId) != d) return none;
    const ValueId operands[] = {insert_id(op, Opcode::LocalId, *d), z};
    return r.insert(op, code, Type::U32, operands, Type::U32);
  }

  ValueId run(OpId op) {
    const Op& o = p.op(op);
    if (o.type != Type::U32 || o.operands.count != 2) return none;
    const ValueId x = r.operand(op, 0), y = r.operand(op, 1);
    if (o.code == Opcode::Add) {
      for (const auto& [a, b] : {std::pair(x, y), std::pair(y, x)})
        if (const auto d = dimension(a, Opcode::LocalId); d && dimension_of_base(b) == d)
          return insert_id(op, Opcode::GlobalId, *d);
      return none;
    }
    if (o.code == Opcode::Sub)
      if (const ValueId shifted = less_base(op, x, y); shifted != none) return shifted;
    const auto d = dimension(x, Opcode::GlobalId);
    if (!d) return none;
    const auto c = r.constant(y);
    const uint64_t size = p.workgroup[*d];
    switch (o.code) {
      case Opcode::Sub:
        if (dimension_of_base(y) == d) return insert_id(op, Opcode::LocalId, *d);
        if (dimension(y, Opcode::LocalId) == d) return insert_base(op, *d);
        return none;
      case Opcode::Div: return c == size ? insert_id(op, Opcode::WorkgroupId, *d) : none;
      case Opcode::Rem: return c == size ? insert_id(op, Opcode::LocalId, *d) : none;
      case Opcode::Shr:
        return c && uint64_t{1} << (*c & 31) == size ? insert_id(op, Opcode::WorkgroupId, *d)
                                                     : none;
      case Opcode::And: return c && *c + 1 == size ? insert_id(op, Opcode::LocalId, *d) : none;
      default: return none;
    }
  }
};

}  // namespace

ValueId simplify_ids(Program& program, Rewriter& rewriter, OpId op) {
  return Ids{program, rewriter}.run(op);
}

}  // namespace vyre::opt
