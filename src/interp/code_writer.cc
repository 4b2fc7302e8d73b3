#include "interp/code_writer.h"

#include <algorithm>

#include "ir/op_properties.h"

namespace vyre::interp {
namespace {

constexpr uint32_t packed_lanes = 512;      // a frame's values stay in the first-level cache
constexpr size_t max_kept_constants = 256;  // further ones are filled in again where they are used
constexpr uint32_t poll_distance = 2048;    // instructions without a loop between clock checks

bool uses_subgroups(const Program& p) {
  bool found = false;
  walk(p, [&](OpId op) { found |= info(p.op(op).code).effect == Effect::Convergent; });
  return found;
}

}  // namespace

CodeWriter::CodeWriter(const Program& program, uint64_t max_groups, bool observed)
    : p_(program), live_(find_liveness(program)), slots_(prepare(max_groups)), observed_(observed) {
  slot_of_.assign(p_.values.size(), no_slot);
  kept_.assign(p_.values.size(), false);
  code_.active = slots_.take_mask();
  code_.dead = slots_.take_mask();
}

/// Determines the lanes of a frame; returns their stride.
uint32_t CodeWriter::prepare(uint64_t max_groups) {
  const Program& p = p_;
  const uint64_t lanes =
      std::max<uint64_t>(1, uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2]);
  code_.program = &p;
  code_.uses_subgroups = uses_subgroups(p);
  const bool shared = std::any_of(p.buffers.begin(), p.buffers.end(),
                                  [](const Buffer& b) { return b.role == Role::Shared; });
  // Workgroups that wait for each other in a loop must not share a frame, because its lanes leave
  // together.
  const bool pack = !shared && !code_.uses_subgroups && !p.requires_forward_progress;
  code_.group_lanes = static_cast<uint32_t>(lanes);
  code_.groups = pack ? static_cast<uint32_t>(std::clamp<uint64_t>(
                            packed_lanes / lanes, 1, std::max<uint64_t>(1, max_groups)))
                      : 1;
  code_.lanes = code_.group_lanes * code_.groups;
  code_.stride = (code_.lanes + 63) / 64 * 64;
  return code_.stride;
}

Instr& CodeWriter::emit(Do what, OpId op) {
  if (++since_poll_ >= poll_distance) {
    since_poll_ = 0;
    Instr poll;
    poll.what = Do::Poll;
    poll.op = loop_ == none ? op : loop_;
    code_.instrs.push_back(poll);
  }
  Instr i;
  i.what = what;
  i.op = op;
  code_.instrs.push_back(i);
  return code_.instrs.back();
}

uint32_t CodeWriter::here_of(Do what, OpId id) {
  emit(what, id);
  return here() - 1;
}

void CodeWriter::copy(Do what, OpId id, Slot to, Slot from, uint32_t bytes) {
  if (to == from) return;
  Instr& i = emit(what, id);
  i.out = to;
  i.in[0] = from;
  i.width = static_cast<uint8_t>(bytes);
}

Slot CodeWriter::keep(ValueId v) {
  kept_[v] = true;
  return slot_of_[v] = slots_.take_for_ever(width(v));
}

void CodeWriter::release(OpId op) {
  for (ValueId v = live_.first[op]; v != none; v = live_.next[v])
    if (!kept_[v] && slot_of_[v] != no_slot) slots_.give(slot_of_[v], width(v));
}

void CodeWriter::straight(OpId id) {
  switch (info(p_.op(id).code).effect) {
    case Effect::Control:
    case Effect::Exit: return;
    case Effect::Pure: pure(id); break;
    case Effect::Read:
    case Effect::Write: memory(id); break;
    case Effect::Atomic: atomic(id); break;
    case Effect::Convergent: subgroup(id); break;
    case Effect::Sync: sync(id); break;
    case Effect::Trap: {
      Instr& i = emit(Do::Assert, id);
      i.in = {slot(p_.operand(id, 0)), slot(p_.operand(id, 1)), no_slot, no_slot};
      break;
    }
  }
  release(id);
}

void CodeWriter::pure(OpId id) {
  const Op& op = p_.op(id);
  const ValueId result = p_.result(id);
  if (is_launch_constant(op.code)) return constant(id, result);
  switch (op.code) {
    case Opcode::GlobalId:
    case Opcode::LocalId:
    case Opcode::WorkgroupId:
    case Opcode::LaneId: return lane_id(id, result);
    default: break;
  }
  const auto operands = p_.operands(id);
  const Slot out = define(result);
  Instr& i = emit(Do::Eval, id);
  i.out = out;
  i.operands = static_cast<uint8_t>(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
  i.eval = find_eval(op.code, op.type, p_.type(operands[0]));
}

void CodeWriter::constant(OpId id, ValueId result) {
  const Op& op = p_.op(id);
  const Type type = p_.type(result);
  const auto key = std::make_tuple(op.code, type, op.attr);
  const auto found = constants_.find(key);
  if (found != constants_.end()) {
    slot_of_[result] = found->second;
    kept_[result] = true;
    return;
  }
  if (op.code == Opcode::Const && constants_.size() >= max_kept_constants) {
    const Slot out = define(result);
    Instr& i = emit(Do::Fill, id);
    i.out = out;
    i.width = static_cast<uint8_t>(size_of(type));
    i.bits = op.attr;
    return;
  }
  const Slot out = keep(result);
  constants_.emplace(key, out);
  code_.constants.push_back({out, type, op.code, op.attr});
}

void CodeWriter::lane_id(OpId id, ValueId result) {
  const Op& op = p_.op(id);
  const auto key = std::make_tuple(op.code, Type::U32, op.attr);
  const auto found = constants_.find(key);
  if (found != constants_.end()) {
    slot_of_[result] = found->second;
    kept_[result] = true;
    return;
  }
  const Slot out = keep(result);
  constants_.emplace(key, out);
  code_.ids.push_back({out, op.code, static_cast<uint32_t>(op.attr)});
}

/// Emits the widening of an index whose type the memory functions do not support. `type` becomes
/// the new type.
Slot CodeWriter::index(OpId id, bool as_64_bits, Type* type, Slot* temporary) {
  const ValueId v = p_.operand(id, 0);
  *type = p_.type(v);
  *temporary = no_slot;
  if (as_64_bits ? size_of(*type) == 8 : is_direct_index(*type)) return slot(v);
  const Type wide = as_64_bits ? (is_signed(*type) ? Type::I64 : Type::U64)
                               : (is_signed(*type) ? Type::I32 : Type::U32);
  *temporary = slots_.take(size_of(wide));
  Instr& i = emit(Do::Eval, id);
  i.out = *temporary;
  i.operands = 1;
  i.in[0] = slot(v);
  i.eval = find_eval(Opcode::Cast, wide, *type);
  *type = wide;
  return *temporary;
}

void CodeWriter::memory(OpId id) {
  const Op& op = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const Type element = p_.buffers[ref.buffer].element;
  Type type;
  Slot temporary;
  const Slot at = index(id, false, &type, &temporary);
  const bool is_store = op.code == Opcode::Store || op.code == Opcode::StoreN;
  const auto values = is_store ? p_.operands(id).subspan(1) : p_.results(id);
  for (uint32_t k = 0; k < values.size(); ++k) {
    const Slot value = is_store ? slot(values[k]) : define(values[k]);
    Instr& i = emit(is_store ? Do::Store : Do::Load, id);
    i.buffer = ref.buffer;
    i.plus = k;
    i.in[0] = at;
    (is_store ? i.in[1] : i.out) = value;
    i.memory = op.code == Opcode::LoadAs ? find_load_as(op.type, type)
               : is_store                ? find_store(element, type)
                                         : find_load(element, type);
  }
  if (temporary != no_slot) slots_.give(temporary, size_of(type));
}

void CodeWriter::atomic(OpId id) {
  const Op& op = p_.op(id);
  Type type;
  Slot temporary;
  const Slot at = index(id, true, &type, &temporary);
  const auto operands = p_.operands(id);
  const Slot out = p_.results(id).empty() ? no_slot : define(p_.result(id));
  Instr& i = emit(Do::Atomic, id);
  i.buffer = p_.memory(id).buffer;
  i.out = out;
  i.in[0] = at;
  for (size_t k = 1; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
  i.atomic = find_atomic(op.code, op.type);
  if (temporary != no_slot) slots_.give(temporary, 8);
}

void CodeWriter::subgroup(OpId id) {
  const Op& op = p_.op(id);
  const auto operands = p_.operands(id);
  const Slot out = define(p_.result(id));
  Instr& i = emit(Do::Subgroup, id);
  i.code = op.code;
  i.type = p_.type(operands[0]);
  i.out = out;
  for (size_t k = 0; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
}

/// All lanes of a frame run in lock step, so a barrier of at most a workgroup needs no code.
void CodeWriter::barrier(OpId id, Scope scope) {
  const bool grid = scope == Scope::Grid;
  code_.grid_sync |= grid;
  if (grid)
    emit(Do::GridBarrier, id);
  else if (observed_)
    emit(Do::Barrier, id).bits = static_cast<uint64_t>(scope);
}

void CodeWriter::sync(OpId id) {
  const bool is_load = p_.op(id).code == Opcode::UniformLoad;
  const Scope scope = is_load ? p_.memory(id).scope : Scope(p_.op(id).attr);
  barrier(id, scope);
  if (!is_load) return;
  memory(id);
  barrier(id, scope);
}

}  // namespace vyre::interp
