// Operations of several invocations: barriers, sections of shared use, uniform loads, subgroup ops.

#include "generate/kernel_writer.h"

namespace vyre::lab {
namespace {

const std::vector<Opcode>& subgroup_rows() {
  static const std::vector<Opcode> rows = [] {
    std::vector<Opcode> list;
    for (size_t i = 0; i < all_ops().size(); ++i)
      if (all_ops()[i].effect == Effect::Convergent) list.push_back(static_cast<Opcode>(i));
    return list;
  }();
  return rows;
}

constexpr Opcode gather_classes[] = {Opcode::AtomicAdd,  Opcode::AtomicMin, Opcode::AtomicMax,
                                     Opcode::AtomicAnd,  Opcode::AtomicOr,  Opcode::AtomicXor,
                                     Opcode::AtomicStore};

}  // namespace

bool KernelWriter::may_sync(Scope scope) const {
  if (!sync_ || last_part_ || flow_ < needed_for(scope)) return false;
  return scope != Scope::Grid || grid_sync_;
}

void KernelWriter::barrier(Scope scope) {
  if (!may_sync(scope)) scope = Scope::Workgroup;
  note_sync();
  emit(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(scope));
}

// ---- Sections.

void KernelWriter::section() {
  if (!may_sync(Scope::Workgroup) || sections_.size() >= 2) return;
  const auto own = [&](bool shared) -> Memory* {
    for (int tries = 0; tries < 8; ++tries) {
      Memory& m = memory_[r_.below(memory_.size())];
      if (m.use == Use::Own && (m.role == Role::Shared) == shared) return &m;
    }
    return nullptr;
  };
  Memory* m = own(r_.chance(75));
  if (!m) return;
  const Scope scope = may_sync(Scope::Grid) && r_.chance(60) ? Scope::Grid : Scope::Workgroup;
  if (contains(TypeSet::Atomic, m->element) && r_.chance(40))
    gather_section(*m, scope);
  else
    exchange(*m, scope);
}

void KernelWriter::in_section(Memory& m, Use use, Scope scope) {
  m.use = use;
  m.reach = needed_for(scope);
  sections_.push_back(m.reach);
  for (uint64_t n = r_.between(1, 2); n-- > 0;) {
    if (use == Use::Gather) {
      gather_to(m);
      continue;
    }
    load_from(m);
    if (r_.chance(50)) fold_newest();
  }
  statements(r_.below(4));
  sections_.pop_back();
}

/// Each invocation writes its own elements, then each reads the others'.
void KernelWriter::exchange(Memory& m, Scope scope) {
  for (uint64_t n = r_.between(1, 2); n-- > 0;) store_to(m);
  barrier(scope);
  in_section(m, Use::Foreign, scope);
  barrier(scope);
  m.use = Use::Own;
}

/// All invocations update all elements, then read the results.
void KernelWriter::gather_section(Memory& m, Scope scope) {
  if (r_.chance(50)) store_to(m);
  m.gather = gather_classes[r_.below(std::size(gather_classes))];
  m.stored = r_.below(100);
  barrier(scope);
  in_section(m, Use::Gather, scope);
  barrier(scope);
  in_section(m, Use::Foreign, scope);
  barrier(scope);
  m.use = Use::Own;
}

// ---- Handoffs.

/// Hands elements over once, and sometimes again: in sequence or in a loop.
void KernelWriter::handoff() {
  if (!may_sync(Scope::Workgroup)) return;
  handoff_round();
  if (!r_.chance(40)) return;
  const Level outer = flow_;
  const uint64_t trips = r_.below(3);  // 0: no loop
  if (trips != 0) {
    const ValueId i = b_.begin_for(u32(0), u32(trips), u32(1));
    set_level(i, Level::Grid);
    enter_loop(outer, trips);
    begin_scope();
    know(i);
  }
  barrier(Scope::Workgroup);
  handoff_round();
  if (trips == 0) return;
  end_scope();
  b_.end_for();
  leave_loop(outer, trips);
}

/// Each invocation writes its elements of the workgroup's tile; after a barrier any elements of the
/// tile are read.
void KernelWriter::handoff_round() {
  const Type element = b_.program.buffers[handoff_].element;
  const uint64_t attr = MemoryRef{.buffer = handoff_}.pack();
  const uint64_t tile = group_size_ * handoff_slots_;
  const auto in_tile = [&](ValueId at) {
    return emit(Opcode::Add, Type::U32, {emit(Opcode::Mul, Type::U32, {group_, u32(tile)}), at});
  };
  for (uint64_t k = 0; k < handoff_slots_; ++k) {
    const ValueId index =
        handoff_slots_ == 1 && r_.chance(50)
            ? linear_
            : in_tile(emit(Opcode::Add, Type::U32, {local_, u32(k * group_size_)}));
    b_.effect(Opcode::Store, value_type(element), {index, value(value_type(element))}, attr);
    ++ops_;
    spent_ += times_;
  }
  barrier(Scope::Workgroup);
  for (uint64_t n = r_.between(1, 3); n-- > 0;) {
    ValueId at = none;
    switch (r_.below(4)) {
      case 0: at = emit(Opcode::Sub, Type::U32, {u32(tile - 1), local_}); break;
      case 1: at = u32(r_.below(tile)); break;
      case 2:
        at = emit(Opcode::Add, Type::U32, {local_, u32(r_.below(tile - group_size_ + 1))});
        break;
      default: at = small_value(Type::U32, tile); break;
    }
    know(emit(Opcode::Load, value_type(element), {in_tile(at)}, attr));
    fold_newest();
  }
}

// ---- Uniform loads and subgroups.

/// A barrier, one load, a barrier: so it may read earlier writes of other invocations within the
/// scope of the barrier.
void KernelWriter::uniform_load() {
  if (!may_sync(Scope::Workgroup)) return;
  const Memory& m = memory_[r_.below(memory_.size())];
  if (m.role == Role::Private || m.role == Role::Table) return;
  Scope scope = may_sync(Scope::Grid) && r_.chance(60) ? Scope::Grid : Scope::Workgroup;
  if (m.role == Role::Shared) scope = Scope::Workgroup;
  const bool device = is_writable(m.role) && m.role != Role::Shared && m.use != Use::Read;
  const bool all_ordered =
      !device || scope == Scope::Grid || (m.use == Use::Foreign && m.reach == Level::Grid);
  // For a device buffer a barrier of the workgroup orders the workgroup's own slots, unless other
  // workgroups write there.
  if (!all_ordered && m.use == Use::Gather && m.reach == Level::Grid) return;
  const Level level = needed_for(scope);
  const ValueId index = all_ordered ? any_index(m.count, level) : group_index(m, level);
  note_sync();
  know(emit(Opcode::UniformLoad, m.value(), {index},
            MemoryRef{.buffer = m.buffer, .scope = scope}.pack()));
}

void KernelWriter::subgroup_op() {
  if (!subgroups_ || last_part_ || flow_ < Level::Subgroup) return;
  const Opcode code = r_.pick(subgroup_rows());
  const OpInfo& row = info(code);
  const Type type = type_in(row.types);
  std::vector<ValueId> operands;
  for (const char letter : row.operands) {
    // The lane of a broadcast is the same for all; every other operand may vary.
    const bool lane = letter == 'U' && code == Opcode::SubgroupBroadcast;
    const auto v = operand(letter, type, code, lane ? Level::Subgroup : Level::Varying);
    if (!v) return;
    operands.push_back(*v);
  }
  note_sync();
  know(emit(code, type, operands));
  if (r_.chance(50)) fold_newest();
}

}  // namespace vyre::lab
