// Values: the sources of operands, and pure ops by their rows in the table.

#include <algorithm>

#include "generate/interesting.h"
#include "generate/kernel_writer.h"
#include "ir/op_properties.h"

namespace vyre::lab {
namespace {

constexpr Type value_types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16, Type::I32,
                                Type::U32,  Type::I64, Type::U64, Type::F32, Type::F64};

/// Rows that are chosen by their signature alone, and rows that name a dimension or a buffer.
std::vector<Opcode> pure_rows(bool plain, bool subgroups) {
  std::vector<Opcode> rows;
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const auto code = static_cast<Opcode>(i);
    if (!is_pure(code) || (observes_subgroup(code) && !subgroups)) continue;
    if ((info(code).attribute == AttrKind::None && !info(code).operands.empty()) == plain)
      rows.push_back(code);
  }
  return rows;
}

const std::vector<Opcode>& plain_rows() {
  static const std::vector<Opcode> rows = pure_rows(true, true);
  return rows;
}
const std::vector<Opcode>& id_rows(bool subgroups) {
  static const std::vector<Opcode> with = pure_rows(false, true), without = pure_rows(false, false);
  return subgroups ? with : without;
}

}  // namespace

// ---- Levels and the pool.

Level KernelWriter::result_level(Opcode code, std::span<const ValueId> operands,
                                 uint64_t attr) const {
  const auto least = [&] {
    Level level = Level::Grid;
    for (const ValueId v : operands) level = std::min(level, level_of(v));
    return level;
  };
  switch (info(code).effect) {
    case Effect::Pure:
      if (!operands.empty()) return least();
      break;
    case Effect::Read: {
      const Role role = b_.program.buffers[MemoryRef::unpack(attr).buffer].role;
      const bool constant = role == Role::In || role == Role::Uniform || role == Role::Table;
      return constant ? least() : Level::Varying;
    }
    case Effect::Sync: return needed_for(MemoryRef::unpack(attr).scope);
    default: break;
  }
  if (is_launch_constant(code)) return Level::Grid;
  switch (code) {  // ops not known to be uniform are varying
    case Opcode::WorkgroupId: return Level::Workgroup;
    case Opcode::SubgroupAdd:
    case Opcode::SubgroupMin:
    case Opcode::SubgroupMax:
    case Opcode::SubgroupAnd:
    case Opcode::SubgroupOr:
    case Opcode::SubgroupXor:
    case Opcode::SubgroupBallot:
    case Opcode::SubgroupAny:
    case Opcode::SubgroupAll:
    case Opcode::SubgroupBroadcast: return Level::Subgroup;
    default: return Level::Varying;
  }
}

void KernelWriter::set_level(ValueId id, Level level) {
  if (!levels_.contains(id)) levels_.resize(id.value() + 1, Level::Varying);
  levels_[id] = level;
}

ValueId KernelWriter::emit(Opcode code, Type type, std::span<const ValueId> operands,
                           uint64_t attr) {
  ++ops_;
  spent_ += times_;
  const ValueId id = b_.op(code, type, operands, attr);
  if (id != none) set_level(id, result_level(code, operands, attr));
  return id;
}

ValueId KernelWriter::constant(Type type, uint64_t bits) {
  const ValueId id = b_.constant(type, bits);
  ++ops_;
  set_level(id, Level::Grid);
  return id;
}

void KernelWriter::know(ValueId id, bool used) {
  pool_.push_back({id, b_.type(id), level_of(id), used});
}

ValueId KernelWriter::read(const Variable& v) {
  const ValueId id = b_.get(v.id);
  set_level(id, v.level);
  return id;
}

ValueId KernelWriter::value(Type type, Level least) {
  if (r_.chance(12)) return constant(type, interesting_bits(r_, type));
  for (int tries = 0; tries < 10 && !pool_.empty(); ++tries) {
    // New values more often than old ones.
    Known& k = pool_[std::max(r_.below(pool_.size()), r_.below(pool_.size()))];
    if (k.type != type || k.level < least) continue;
    k.used = true;
    return k.id;
  }
  for (int tries = 0; tries < 4 && !vars_.empty(); ++tries) {
    const Variable& v = r_.pick(vars_);
    if (v.type == type && v.level >= least) return read(v);
  }
  return make_value(type, least);
}

/// From a value of another type, if there is one.
ValueId KernelWriter::make_value(Type type, Level least) {
  if (type == Type::Bool && r_.chance(70)) return condition(least);
  for (int tries = 0; tries < 6 && !pool_.empty(); ++tries) {
    Known& k = pool_[r_.below(pool_.size())];
    if (k.level < least || k.type == type) continue;
    k.used = true;
    const bool same_bits = width_of(k.type) == width_of(type) && r_.chance(50);
    const ValueId id = emit(same_bits ? Opcode::Bitcast : Opcode::Cast, type, {k.id});
    know(id, true);
    return id;
  }
  return constant(type, interesting_bits(r_, type));
}

ValueId KernelWriter::convert(ValueId v, Type type) {
  return b_.type(v) == type ? v : emit(Opcode::Cast, type, {v});
}

ValueId KernelWriter::small_value(Type type, uint64_t bound, Level least) {
  if (r_.chance(20)) return constant(type, r_.below(bound));
  ValueId v = value(Type::U32, least);
  if (least == Level::Varying && r_.chance(30)) v = r_.chance(50) ? linear_ : local_;
  return convert(emit(Opcode::Rem, Type::U32, {v, u32(bound)}), type);
}

/// Comparisons of small numbers have both outcomes more often than those of random bits.
ValueId KernelWriter::condition(Level least) {
  if (r_.chance(25)) {
    const Type t = type_in(TypeSet::Num);
    const ValueId a = value(t, least), b = value(t, least);
    return emit(r_.pick({Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge, Opcode::Ne}), t, {a, b});
  }
  const uint64_t bound = r_.between(2, 6);
  const ValueId a = small_value(Type::U32, bound, least);
  // Named in order: the evaluation order of arguments is unspecified.
  const ValueId b = u32(r_.below(bound));
  return emit(r_.pick({Opcode::Lt, Opcode::Eq, Opcode::Ne, Opcode::Ge}), Type::U32, {a, b});
}

// ---- Pure ops.

Type KernelWriter::type_in(TypeSet set) {
  if (set == TypeSet::None) return Type::Void;
  for (;;) {
    const Type t = value_types[r_.below(std::size(value_types))];
    if (contains(set, t)) return t;
  }
}

Type KernelWriter::integer_type() { return type_in(TypeSet::Int); }

/// A value for a letter of a signature; nothing for letters that pure ops do not have.
std::optional<ValueId> KernelWriter::operand(char letter, Type type, Opcode code, Level least) {
  switch (letter) {
    case 'T': return value(type, least);
    case 'U': return r_.chance(60) ? small_value(Type::U32, 70, least) : value(Type::U32, least);
    case 'L': return value(Type::U64, least);
    case 'B': return r_.chance(60) ? condition(least) : value(Type::Bool, least);
    case 'I': return value(integer_type(), least);
    case 'S': {
      Type from = type_in(TypeSet::Any);
      while (code == Opcode::Bitcast && width_of(from) != width_of(type))
        from = type_in(TypeSet::Any);
      return value(from, least);
    }
    default: return std::nullopt;
  }
}

void KernelWriter::pure_op(Level least) {
  const Opcode code = r_.pick(plain_rows());
  const OpInfo& row = info(code);
  const Type type = type_in(row.types);
  std::vector<ValueId> operands;
  for (const char letter : row.operands) {
    const auto v = operand(letter, type, code, least);
    if (!v) return;
    operands.push_back(*v);
  }
  know(emit(code, type, operands));
}

/// Constants, ids, lengths, scalars.
void KernelWriter::id_op() {
  const Opcode code = r_.pick(id_rows(subgroups_));
  const OpInfo& row = info(code);
  switch (row.attribute) {
    case AttrKind::Bits: {
      const Type t = type_in(row.types);
      return know(constant(t, interesting_bits(r_, t)), true);
    }
    case AttrKind::Dim: {
      const uint64_t dim = r_.below(3);
      return know(emit(code, type_in(row.types), {}, dim));
    }
    case AttrKind::Buffer: {
      if (row.types == TypeSet::None)
        return know(emit(code, Type::Void, {}, r_.pick(memory_).buffer.value()));
      if (scalars_.empty()) return;
      const BufferId scalar = r_.pick(scalars_);
      return know(emit(code, b_.program.buffers[scalar].element, {}, scalar.value()));
    }
    default: return know(emit(code, type_in(row.types), {}));
  }
}

void KernelWriter::assign() {
  if (vars_.empty()) return;
  const Variable& v = r_.pick(vars_);
  if (flow_ < v.level) return;
  b_.set(v.id, value(v.type, v.level));
}

ValueId KernelWriter::as_u64(ValueId v) {
  const Type t = b_.type(v);
  if (t == Type::F64) return emit(Opcode::Bitcast, Type::U64, {v});
  if (t == Type::F32) v = emit(Opcode::Bitcast, Type::U32, {v});
  return convert(v, Type::U64);
}

/// Folds the newest value, which comes from other invocations, into the result.
void KernelWriter::fold_newest() {
  pool_.back().used = true;
  fold(pool_.back().id);
}

/// Folds a value into the result, so that it is not dead.
void KernelWriter::fold(ValueId v) {
  const ValueId turned =
      emit(Opcode::RotL, Type::U64, {b_.get(accumulator_), constant(Type::U64, r_.between(1, 63))});
  const ValueId more = as_u64(v);
  b_.set(accumulator_, emit(r_.chance(50) ? Opcode::Xor : Opcode::Add, Type::U64, {turned, more}));
}

}  // namespace vyre::lab
