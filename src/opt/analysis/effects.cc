#include "opt/analysis/effects.h"

#include <fmt/format.h>

namespace vyre::opt {
namespace {

EffectSummary own_effects(const Program& p, OpId op) {
  EffectSummary e;
  const Opcode code = p.op(op).code;
  switch (info(code).effect) {
    case Effect::Pure:
    case Effect::Control: break;
    case Effect::Read: e.reads = bit_of(p.memory(op).buffer); break;
    case Effect::Write: e.writes = bit_of(p.memory(op).buffer); break;
    case Effect::Atomic: {
      const MemoryRef m = p.memory(op);
      const uint64_t bit = bit_of(m.buffer);
      e.atomics = bit;
      if (code != Opcode::AtomicStore) e.reads = bit;
      if (code != Opcode::AtomicLoad) e.writes = bit;
      e.acquires = m.acq_rel;
      break;
    }
    case Effect::Sync:
      if (code == Opcode::UniformLoad) {
        const MemoryRef m = p.memory(op);
        e.reads = bit_of(m.buffer);
        e.barriers = uint8_t(1u << unsigned(m.scope));
      } else {
        e.barriers = uint8_t(1u << unsigned(p.op(op).attr));
      }
      break;
    case Effect::Convergent: e.subgroup = true; break;
    case Effect::Trap: e.traps = true; break;
    case Effect::Exit:
      e.traps = code == Opcode::Trap;
      e.leaves = code == Opcode::Break || code == Opcode::Continue || code == Opcode::Return;
      break;
  }
  return e;
}

}  // namespace

Effects::Effects(const Program& p) : by_op_(p.ops.size()) {
  for (const BufferId i : p.buffers.ids())
    if (is_writable(p.buffers[i].role) && p.buffers[i].role != Role::Private)
      seen_by_others_ |= bit_of(i);

  // The blocks that an exit leaves: breaks and continues stay inside the innermost loop, returns
  // leave all.
  IdMap<OpId, bool> returns(p.ops.size(), false);
  std::vector<OpId> order;
  walk(p, [&](OpId op) { order.push_back(op); });
  for (const OpId op : order) {
    by_op_[op] = own_effects(p, op);
    returns[op] = p.op(op).code == Opcode::Return;
  }
  for (size_t i = order.size(); i-- > 0;) {  // children come after their parent, so before it here
    const OpId op = order[i];
    const OpId parent = p.blocks[p.op(op).parent].parent;
    if (parent == none) {
      all_.add(by_op_[op]);
      continue;
    }
    EffectSummary up = by_op_[op];
    if (is_loop(p.op(parent).code)) up.leaves = returns[op];
    by_op_[parent].add(up);
    if (returns[op]) returns[parent] = true;
  }
  all_.leaves = false;
}

bool Effects::may_change(OpId op, BufferId buffer) const {
  const EffectSummary& e = by_op_[op];
  const uint64_t bit = bit_of(buffer);
  if (e.writes & bit) return true;
  return (seen_by_others_ & bit) && (e.barriers || e.acquires);
}

std::vector<std::string> describe(const Program& p, const EffectSummary& e) {
  std::vector<std::string> list;
  const auto buffers = [&](uint64_t bits, std::string_view verb) {
    for (const BufferId i : p.buffers.ids())
      if (bits & bit_of(i)) list.push_back(fmt::format("{} {}", verb, p.buffers[i].name));
  };
  buffers(e.reads, "reads");
  buffers(e.writes, "writes");
  buffers(e.atomics, "atomics on");
  for (const Scope s : {Scope::Subgroup, Scope::Workgroup, Scope::Grid})
    if (e.barriers >> unsigned(s) & 1) list.push_back(fmt::format("barrier {}", name(s)));
  if (e.acquires) list.emplace_back("acquires");
  if (e.subgroup) list.emplace_back("subgroup operations");
  if (e.traps) list.emplace_back("traps");
  return list;
}

EffectKinds added_kinds(const EffectSummary& before, const EffectSummary& after) {
  EffectKinds kinds;
  if (after.reads & ~before.reads) kinds |= effect(EffectKind::Read);
  if (after.writes & ~before.writes) kinds |= effect(EffectKind::Write);
  if (after.atomics & ~before.atomics) kinds |= effect(EffectKind::Atomic);
  if (after.barriers & ~before.barriers) kinds |= effect(EffectKind::Barrier);
  if (after.subgroup && !before.subgroup) kinds |= effect(EffectKind::Subgroup);
  if (after.traps && !before.traps) kinds |= effect(EffectKind::Trap);
  return kinds;
}

}  // namespace vyre::opt
