// Memory: indices, and the accesses that are allowed.

#include <algorithm>

#include "generate/kernel_writer.h"

namespace vyre::lab {
namespace {

constexpr Type index_types[] = {Type::U32, Type::I32, Type::U64, Type::I64,
                                Type::U16, Type::I16, Type::U8,  Type::I8};

uint64_t largest(Type t) { return low_mask(width_of(t) - (is_signed(t) ? 1 : 0)); }

std::vector<Opcode> atomic_rows(Type element) {
  std::vector<Opcode> rows;
  for (size_t i = 0; i < all_ops().size(); ++i)
    if (is_atomic(static_cast<Opcode>(i)) && contains(all_ops()[i].types, element))
      rows.push_back(static_cast<Opcode>(i));
  return rows;
}

}  // namespace

// ---- Indices.

/// The same number in another type that holds all numbers up to `most`.
ValueId KernelWriter::widen_index(ValueId index, uint64_t most) {
  const Type t = index_types[r_.below(std::size(index_types))];
  return largest(t) < most || r_.chance(40) ? index : convert(index, t);
}

/// An id that is scaled, reversed, clamped or wrapped: base + stride · id except at a few ids.
ValueId KernelWriter::piecewise_index(uint64_t count) {
  const Type t = r_.pick({Type::U32, Type::U32, Type::I32, Type::U64, Type::I64, Type::U16});
  ValueId at = convert(r_.chance(70) ? linear_ : local_, t);
  // Named in order: the evaluation order of arguments is unspecified.
  const auto apply = [&](Opcode code, uint64_t number) {
    const ValueId c = constant(t, number & low_mask(width_of(t)));
    at = emit(code, t, {at, c});
  };
  const uint64_t length = std::max<uint64_t>(count, 1);
  const uint32_t steps = 1 + r_.below(3);
  for (uint32_t i = 0; i < steps; ++i) {
    switch (r_.below(9)) {
      case 0: apply(Opcode::Mul, r_.between(2, 5)); break;
      case 1: apply(Opcode::Shl, r_.between(1, 2)); break;
      case 2: {
        const ValueId last = constant(t, (length - 1) & low_mask(width_of(t)));
        at = emit(Opcode::Sub, t, {last, at});
        break;
      }
      case 3: apply(Opcode::Max, r_.below(4)); break;
      case 4: apply(Opcode::Min, length - 1 - r_.below(std::min<uint64_t>(length, 3))); break;
      case 5: apply(Opcode::Rem, r_.chance(90) ? length : r_.below(3)); break;
      case 6: {  // row and column
        const ValueId width = value(t, Level::Grid);
        const ValueId row = emit(Opcode::Div, t, {at, width});
        const ValueId column = emit(Opcode::Rem, t, {at, width});
        at = emit(Opcode::Add, t, {emit(Opcode::Mul, t, {row, width}), column});
        break;
      }
      case 7: {
        const ValueId edge = constant(t, r_.below(length) & low_mask(width_of(t)));
        const ValueId is_edge = emit(r_.pick({Opcode::Eq, Opcode::Lt, Opcode::Ge}), t, {at, edge});
        at = emit(Opcode::Select, t, {is_edge, edge, at});
        break;
      }
      default: apply(r_.pick({Opcode::Add, Opcode::Sub}), r_.below(6)); break;
    }
  }
  return at;
}

/// Any index, more often in bounds than not.
ValueId KernelWriter::any_index(uint64_t count, Level least) {
  switch (r_.below(12)) {
    case 0: {  // at the edges
      const uint64_t edge = r_.pick<uint64_t>({count, count + 1, count - 1, uint64_t{0}});
      return constant(r_.pick({Type::U32, Type::U64, Type::I64}), edge);
    }
    case 1: {  // far away: negative, huge
      const Type t = index_types[r_.below(std::size(index_types))];
      return constant(t, r_.pick<uint64_t>({~uint64_t{0}, 1ull << 63, 1ull << 31, 1ull << 32,
                                            ~uint64_t{1}, ~uint64_t{0} >> 1}));
    }
    case 2: return value(integer_type(), least);
    case 3: return widen_index(constant(Type::U32, count == 0 ? 0 : r_.below(count)), count);
    case 4:
    case 5:
    case 6:
    case 7:
      if (least == Level::Varying) {
        if (r_.chance(50)) return piecewise_index(count);
        const ValueId id = r_.chance(70) ? linear_ : local_;
        if (r_.chance(50)) return id;
        // Named in order: the evaluation order of arguments is unspecified.
        const ValueId distance = u32(r_.below(9));
        return emit(r_.pick({Opcode::Add, Opcode::Sub, Opcode::Xor}), Type::U32, {id, distance});
      }
      [[fallthrough]];
    default: return widen_index(small_value(Type::U32, count + 2, least), count + 2);
  }
}

/// One of this invocation's slots that has `room - 1` more after it.
ValueId KernelWriter::own_index(const Memory& m, uint32_t room) {
  const uint64_t all = (m.role == Role::Shared ? group_size_ : total_) * m.stride;
  ValueId index = m.own;
  if (m.stride > room) {
    const uint64_t places = m.stride - room + 1;
    const ValueId at = r_.chance(50) ? u32(r_.below(places)) : small_value(Type::U32, places);
    index = emit(Opcode::Add, Type::U32, {index, at});
  }
  return widen_index(index, all);
}

/// Certainly out of bounds, as are all later indices of the access.
ValueId KernelWriter::outside_index(const Memory& m) {
  if (r_.chance(40)) {
    const uint64_t index = ~r_.between(16, 100);
    return constant(r_.pick({Type::I8, Type::I16, Type::I32, Type::I64}), index);
  }
  if (r_.chance(50)) {
    const uint64_t index = m.count + r_.below(3);
    return constant(r_.pick({Type::U32, Type::U64}), index);
  }
  const ValueId length = emit(Opcode::Len64, Type::Void, {}, m.buffer.value());
  return emit(Opcode::Add, Type::U64, {length, convert(value(Type::U32), Type::U64)});
}

/// Any of the slots of this workgroup.
ValueId KernelWriter::group_index(const Memory& m, Level least) {
  const uint64_t slots = group_size_ * m.stride;
  const ValueId base = emit(Opcode::Mul, Type::U32, {group_, u32(slots)});
  const ValueId index = emit(Opcode::Add, Type::U32, {base, small_value(Type::U32, slots, least)});
  return widen_index(index, total_ * m.stride);
}

ValueId KernelWriter::load_index(const Memory& m, Level least, uint32_t room) {
  if (m.use == Use::Own) return r_.chance(85) ? own_index(m, room) : outside_index(m);
  if (m.use == Use::Foreign && m.role != Role::Shared && m.reach != Level::Grid)
    return group_index(m, least);
  return any_index(m.count, least);
}

// ---- Loads and stores.

KernelWriter::Memory* KernelWriter::pick_memory(bool (KernelWriter::*good)(const Memory&) const) {
  for (int tries = 0; tries < 8; ++tries) {
    Memory& m = memory_[r_.below(memory_.size())];
    if ((this->*good)(m)) return &m;
  }
  return nullptr;
}

uint32_t KernelWriter::vector_count(Type element) {
  const uint32_t most = 16 / size_of(element);
  return std::min<uint32_t>(most, r_.pick({1u, 2u, 2u, 3u, 4u, 4u, 7u, 16u}));
}

void KernelWriter::load(Level least) {
  const Memory* m = pick_memory(&KernelWriter::readable);
  if (!m) return;
  const bool constant = m->role == Role::In || m->role == Role::Uniform || m->role == Role::Table;
  if (least > Level::Varying && !constant) return;
  load_from(*m, least);
}

void KernelWriter::load_from(const Memory& m, Level least) {
  const uint64_t attr = MemoryRef{.buffer = m.buffer}.pack();
  // Neighbours of a slot may be another workgroup's.
  const bool whole = m.use != Use::Foreign || m.role == Role::Shared || m.reach == Level::Grid;
  uint32_t n = whole && r_.chance(25) ? vector_count(m.element) : 0;
  if (m.use == Use::Own) n = std::min(n, m.stride);
  const ValueId index = load_index(m, least, std::max(n, 1u));
  if (n == 0) return know(emit(Opcode::Load, m.value(), {index}, attr));
  ++ops_;
  spent_ += times_ * n;
  for (const ValueId v : b_.load_n(m.value(), index, n, attr)) {
    set_level(v, result_level(Opcode::LoadN, {&index, 1}, attr));
    know(v);
  }
}

bool KernelWriter::takes_load_as(const Memory& m) const {
  const bool anywhere =
      m.use == Use::Any || m.use == Use::Read ||
      (m.use == Use::Foreign && (m.role == Role::Shared || m.reach == Level::Grid));
  return anywhere && is_integer(m.element);
}

void KernelWriter::load_as() {
  const Memory* m = pick_memory(&KernelWriter::takes_load_as);
  if (!m) return;
  const ValueId index = any_index(m->count * size_of(m->element));
  know(emit(Opcode::LoadAs, type_in(info(Opcode::LoadAs).types), {index},
            MemoryRef{.buffer = m->buffer}.pack()));
}

void KernelWriter::store() {
  if (const Memory* m = pick_memory(&KernelWriter::writable)) store_to(*m);
}

void KernelWriter::store_to(const Memory& m) {
  const uint64_t attr = MemoryRef{.buffer = m.buffer}.pack();
  uint32_t n = r_.chance(25) ? vector_count(m.element) : 0;
  if (m.use == Use::Own) n = std::min(n, m.stride);
  const ValueId index = m.use == Use::Any ? any_index(m.count)
                        : r_.chance(92)   ? own_index(m, std::max(n, 1u))
                                          : outside_index(m);
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < std::max(n, 1u); ++i) values.push_back(value(m.value()));
  ++ops_;
  spent_ += times_;
  if (n == 0)
    b_.effect(Opcode::Store, m.value(), {index, values[0]}, attr);
  else
    b_.store_n(m.value(), index, values, attr);
  // Read back at the same index: other invocations do not access the element.
  if (n == 0 && m.use != Use::Foreign && readable(m) && r_.chance(15))
    know(emit(Opcode::Load, m.value(), {index}, attr));
}

// ---- Atomics.

bool KernelWriter::takes_atomics(const Memory& m) const {
  return m.use == Use::Own && m.own != none && contains(TypeSet::AtomicAdd, m.element);
}

/// No other invocation accesses the slot, so even the old value is the same in every order.
void KernelWriter::own_atomic() {
  const Memory* m = pick_memory(&KernelWriter::takes_atomics);
  if (!m) return;
  const Opcode code = r_.pick(atomic_rows(m->element));
  std::vector<ValueId> operands;
  for (const char letter : info(code).operands)
    operands.push_back(letter == 'I' ? (r_.chance(92) ? own_index(*m) : outside_index(*m))
                                     : value(m->element));
  MemoryRef ref{.buffer = m->buffer, .acq_rel = r_.chance(25)};
  ref.scope = m->role == Role::Shared || r_.chance(30) ? Scope::Workgroup : Scope::Grid;
  const ValueId old = emit(code, m->element, operands, ref.pack());
  if (old != none) know(old);
}

void KernelWriter::gather_atomic() {
  if (const Memory* m = pick_memory(&KernelWriter::gathers)) gather_to(*m);
}

/// The old value is dropped: it depends on the order.
void KernelWriter::gather_to(const Memory& m) {
  const bool everywhere = m.role == Role::Shared || m.reach == Level::Grid;
  const ValueId index = everywhere ? any_index(m.count) : group_index(m, Level::Varying);
  const bool stores = m.gather == Opcode::AtomicStore;
  Opcode code = m.gather;
  if (code == Opcode::AtomicAdd && r_.chance(30)) code = Opcode::AtomicSub;
  if (stores && r_.chance(30)) code = Opcode::AtomicExchange;
  MemoryRef ref{.buffer = m.buffer, .acq_rel = r_.chance(20)};
  const bool group_only = m.role == Role::Shared || (m.reach == Level::Workgroup && r_.chance(50));
  ref.scope = group_only ? Scope::Workgroup : Scope::Grid;
  const ValueId operand = stores ? constant(m.element, m.stored) : value(m.element);
  emit(code, m.element, {index, operand}, ref.pack());
}

}  // namespace vyre::lab
