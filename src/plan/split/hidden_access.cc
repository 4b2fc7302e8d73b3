#include "plan/split/hidden_access.h"

#include <utility>

namespace vyre::plan {

using Rate = HiddenBuffer::Rate;

void HiddenAccess::begin_segment() {
  const auto& size = p_.workgroup;
  const uint64_t lanes = uint64_t{size[0]} * size[1] * size[2];
  const auto id = [&](Opcode code, uint32_t dim) { return w_.op(code, Type::Void, {}, dim); };

  local_ = id(Opcode::LocalId, 0);
  uint32_t stride = size[0];
  for (uint32_t d = 1; d < 3; ++d) {
    if (size[d] > 1)
      local_ = w_.op(Opcode::Add, Type::U32,
                     {local_, w_.op(Opcode::Mul, Type::U32,
                                    {id(Opcode::LocalId, d), w_.constant(Type::U32, stride)})});
    stride *= size[d];
  }
  ValueId groups[3], place[3];
  for (uint32_t d = 0; d < 3; ++d) {
    groups[d] = wide(id(Opcode::NumWorkgroups, d));
    place[d] = wide(id(Opcode::WorkgroupId, d));
  }
  workgroup_ = add(mul(add(mul(place[2], groups[1]), place[1]), groups[0]), place[0]);
  // Named in order: the evaluation order of arguments is unspecified.
  const ValueId local = wide(local_);
  invocation_ = add(mul(workgroup_, u64(lanes)), local);
  const ValueId in_layers = mul(groups[2], u64(lanes));
  invocations_ = mul(mul(groups[0], groups[1]), in_layers);
  first_of_workgroup_ = w_.op(Opcode::Eq, Type::U32, {local_, w_.constant(Type::U32, 0)});
  first_of_all_ = w_.op(Opcode::Eq, Type::U64, {invocation_, u64(0)});
}

uint64_t HiddenAccess::memory(uint32_t hidden) const {
  MemoryRef m;
  m.buffer = p_.buffers.next_id() + hidden;
  m.scope = Scope::Workgroup;
  return m.pack();
}

ValueId HiddenAccess::index(Rate rate, uint64_t offset) {
  if (rate == Rate::PerInvocation)
    return offset == 0 ? invocation_ : add(mul(invocations_, u64(offset)), invocation_);
  const ValueId first = mul(workgroup_, u64(live_.hidden[live_.by_workgroup].per));
  return offset == 0 ? first : add(first, u64(offset));
}

template <class Fill>
void HiddenAccess::only_if(ValueId condition, Fill&& fill) {
  const OpId op = w_.open(Opcode::If, {&condition, 1}, 2);
  const BlockId outside = w_.block;
  w_.block = w_.p.op(op).first_block;
  fill();
  w_.exit(Opcode::Yield, {});
  w_.block = w_.p.op(op).first_block + 1;
  w_.exit(Opcode::Yield, {});
  w_.block = outside;
}

// ---- Values, as one or two words.

ValueId HiddenAccess::load(const Slot& slot, Type type, bool uniform) {
  const bool by_workgroup = slot.rate == Rate::PerWorkgroup;
  const uint64_t from = memory(by_workgroup ? live_.by_workgroup : live_.by_invocation);
  const Opcode code = by_workgroup && uniform ? Opcode::UniformLoad : Opcode::Load;
  const ValueId low = w_.op(code, Type::U32, {index(slot.rate, slot.first)}, from);
  if (slot.words == 1) {
    if (type == Type::U32) return low;
    return w_.op(type == Type::F32 ? Opcode::Bitcast : Opcode::Cast, type, {low});
  }
  const ValueId high = w_.op(code, Type::U32, {index(slot.rate, slot.first + 1)}, from);
  const ValueId bits = w_.op(Opcode::Or, Type::U64,
                             {wide(low), w_.op(Opcode::Shl, Type::U64, {wide(high), u64(32)})});
  if (type == Type::U64) return bits;
  return w_.op(type == Type::F64 ? Opcode::Bitcast : Opcode::Cast, type, {bits});
}

void HiddenAccess::store_u32(Rate rate, uint32_t slot, ValueId value) {
  const bool by_workgroup = rate == Rate::PerWorkgroup;
  w_.effect(Opcode::Store, Type::U32, {index(rate, slot), value},
            memory(by_workgroup ? live_.by_workgroup : live_.by_invocation));
}

void HiddenAccess::store(const Slot& slot, ValueId value) {
  const auto write = [&] {
    const Type type = w_.p.type(value);
    const auto to = [&](Type t, ValueId v) {
      const Type now = w_.p.type(v);
      if (now == t) return v;
      return w_.op(is_float(now) ? Opcode::Bitcast : Opcode::Cast, t, {v});
    };
    if (slot.words == 1) return store_u32(slot.rate, slot.first, to(Type::U32, value));
    const ValueId bits = type == Type::U64 ? value : to(Type::U64, value);
    store_u32(slot.rate, slot.first, to(Type::U32, bits));
    store_u32(slot.rate, slot.first + 1,
              to(Type::U32, w_.op(Opcode::Shr, Type::U64, {bits, u64(32)})));
  };
  if (slot.rate == Rate::PerWorkgroup)
    only_if(first_of_workgroup_, write);
  else
    write();
}

ValueId HiddenAccess::load_word(uint32_t slot) {
  Slot where;
  where.rate = Rate::PerWorkgroup;
  where.first = slot;
  return load(where, Type::Bool, true);
}

void HiddenAccess::store_word(uint32_t slot, uint32_t word, ValueId goes_on) {
  Slot where;
  where.rate = Rate::PerWorkgroup;
  where.first = slot;
  store(where, goes_on);
  only_if(first_of_all_, [&] {
    w_.effect(Opcode::Store, Type::U32, {u64(word), w_.op(Opcode::Cast, Type::U32, {goes_on})},
              memory(live_.once));
  });
}

// ---- Arrays.

/// One element.
void HiddenAccess::move(const KeptArray& array, ValueId in_array, ValueId in_hidden, bool save) {
  const Type type = value_type(p_.buffers[array.array].element);
  MemoryRef own;
  own.buffer = array.array;
  const uint64_t from = save ? own.pack() : memory(array.hidden);
  const uint64_t to = save ? memory(array.hidden) : own.pack();
  const ValueId value = w_.op(Opcode::Load, type, {save ? in_array : in_hidden}, from);
  w_.effect(Opcode::Store, type, {save ? in_hidden : in_array, value}, to);
}

void HiddenAccess::copy_private(const KeptArray& array, bool save) {
  const ValueId bounds[] = {u64(0), u64(array.count), u64(1)};
  const OpId loop = w_.open(Opcode::For, bounds, 1);
  const BlockId outside = std::exchange(w_.block, w_.p.op(loop).first_block);
  const ValueId i = w_.p.add_argument(w_.block, Type::U64);
  const ValueId row = array.offset == 0 ? i : add(i, u64(array.offset));
  move(array, i, add(mul(row, invocations_), invocation_), save);
  w_.exit(Opcode::Yield, {});
  w_.block = outside;
}

/// All invocations of a workgroup together.
void HiddenAccess::copy_shared(const KeptArray& array, bool save) {
  const uint64_t lanes = uint64_t{p_.workgroup[0]} * p_.workgroup[1] * p_.workgroup[2];
  ValueId first = mul(workgroup_, u64(live_.hidden[array.hidden].per));
  if (array.offset != 0) first = add(first, u64(array.offset));
  const ValueId bounds[] = {wide(local_), u64(array.count), u64(lanes)};
  const OpId loop = w_.open(Opcode::For, bounds, 1);
  const BlockId outside = std::exchange(w_.block, w_.p.op(loop).first_block);
  const ValueId i = w_.p.add_argument(w_.block, Type::U64);
  move(array, i, add(first, i), save);
  w_.exit(Opcode::Yield, {});
  w_.block = outside;
}

void HiddenAccess::copy_arrays(uint64_t arrays, bool save) {
  bool shared = false;
  for (const KeptArray& array : live_.arrays)
    if (arrays & bit_of(array.array)) shared |= p_.buffers[array.array].role == Role::Shared;
  const auto wait = [&] {
    w_.effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(Scope::Workgroup));
  };
  if (save && shared) wait();
  for (const KeptArray& array : live_.arrays) {
    if (!(arrays & bit_of(array.array))) continue;
    if (p_.buffers[array.array].role == Role::Shared)
      copy_shared(array, save);
    else
      copy_private(array, save);
  }
  if (!save && shared) wait();
}

}  // namespace vyre::plan
