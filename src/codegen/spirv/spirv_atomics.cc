// Atomics, each with its order and scope. Out of bounds nothing happens and the old value is 0.
//
// The scope "device" is the queue family's: all of a launch runs there, and every device has it.

#include "codegen/spirv/spirv_emitter.h"
#include "ir/eval/eval.h"

namespace vyre::emit_spirv {

/// An order over all memory, or over the workgroup's memory only: writes are made available, reads
/// visible.
Id Emitter::semantics(uint32_t order, bool of_buffers) {
  if (order == 0) return c32(0);
  uint32_t all = order | spv::MemorySemanticsWorkgroupMemoryMask;
  if (of_buffers) all |= spv::MemorySemanticsUniformMemoryMask;
  if (order != spv::MemorySemanticsAcquireMask) all |= spv::MemorySemanticsMakeAvailableMask;
  if (order != spv::MemorySemanticsReleaseMask) all |= spv::MemorySemanticsMakeVisibleMask;
  return c32(all);
}

void Emitter::atomic_op(OpId id) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const bool has_result = o.results.count != 0 && f_.uses[p_.result(id)] != 0;
  const Id in = ref.in_bounds ? 0 : inside(ref.buffer, p_.operand(id, 0), 0);
  if (is_outside_always(in)) {
    if (has_result) set(p_.result(id), zero_of(o.type));
    return;
  }
  const Place place = place_of(id);
  const Id condition = if_alive(in);
  if (has_result)
    return set(p_.result(id),
               when_value(condition, type_of(o.type), [&] { return atomic(id, place); }));
  when(condition, [&] { atomic(id, place); });
}

Id Emitter::atomic(OpId id, const Place& place) {
  const Op& o = p_.op(id);
  const MemoryRef ref = p_.memory(id);
  const Type t = o.type;
  const bool is_shared = place.space == Space::Shared;
  const Id bits = t == Type::F32 ? u32() : type_of(t);
  if (width_of(t) == 64) m_.capability(spv::CapabilityInt64Atomics);
  const Id scope =
      scope_of(is_shared || ref.scope != Scope::Grid ? spv::ScopeWorkgroup : spv::ScopeQueueFamily);
  // Without ordered atomics the device is a CPU, whose atomics are all in order.
  const bool ordered = ref.acq_rel && options_.profile.ordered_atomics;
  const auto order = [&](uint32_t mask) { return semantics(ordered ? mask : 0); };
  const Id acquire = order(spv::MemorySemanticsAcquireMask);
  const Id release = order(spv::MemorySemanticsReleaseMask);
  const Id acq_rel = order(spv::MemorySemanticsAcquireReleaseMask);
  const bool native_add = t == Type::F32 && !is_shared && options_.profile.float_atomic_add;
  const Id at = is_shared ? array_pointer(place, place.index)
                          : element_pointer(place.address, native_add ? type_of(t) : bits);
  spv::Op what = spv::OpNop;
  switch (o.code) {
    case Opcode::AtomicStore:
      eff(spv::OpAtomicStore, {at, scope, release, get(p_.operand(id, 1))});
      return 0;
    case Opcode::AtomicLoad: return ins(spv::OpAtomicLoad, bits, {at, scope, acquire});
    case Opcode::AtomicCas:
      return ins(spv::OpAtomicCompareExchange, bits,
                 {at, scope, acq_rel, acquire, get(p_.operand(id, 2)), get(p_.operand(id, 1))});
    case Opcode::AtomicAdd:
      if (t == Type::F32)
        return native_add ? add_float_natively(id, place, at, scope, acq_rel)
                          : add_float(at, get(p_.operand(id, 1)), scope, acq_rel);
      what = spv::OpAtomicIAdd;
      break;
    case Opcode::AtomicSub: what = spv::OpAtomicISub; break;
    case Opcode::AtomicMin: what = is_signed(t) ? spv::OpAtomicSMin : spv::OpAtomicUMin; break;
    case Opcode::AtomicMax: what = is_signed(t) ? spv::OpAtomicSMax : spv::OpAtomicUMax; break;
    case Opcode::AtomicAnd: what = spv::OpAtomicAnd; break;
    case Opcode::AtomicOr: what = spv::OpAtomicOr; break;
    case Opcode::AtomicXor: what = spv::OpAtomicXor; break;
    default: what = spv::OpAtomicExchange;
  }
  return ins(what, bits, {at, scope, acq_rel, get(p_.operand(id, 1))});
}

/// An addition whose result is NaN stores the canonical NaN after it. No addition turns a NaN back
/// into a number, so the last write to the element is one of these stores.
Id Emitter::add_float_natively(OpId id, const Place& place, Id at, Id scope, Id order) {
  m_.capability(spv::CapabilityAtomicFloat32AddEXT);
  m_.extension("SPV_EXT_shader_atomic_float_add");
  const Id f32 = type_of(Type::F32), v = get(p_.operand(id, 1));
  const Id old = ins(spv::OpAtomicFAddEXT, f32, {at, scope, order, v});
  if (!is_visible(place.buffer)) return old;
  const Id terms[] = {old, v};
  const Id sum = compute(Opcode::Add, Type::F32, terms);
  when(is_nan(Type::F32, bits_of(Type::F32, sum)), [&] {
    const Id word = element_pointer(place.address, u32());
    const Id nan = c32(static_cast<uint32_t>(canonical_nan_f32));
    eff(spv::OpAtomicStore, {word, scope, c32(0), nan});
  });
  return old;
}

/// By compare and exchange, of the bits.
Id Emitter::add_float(Id at, Id v, Id scope, Id order) {
  const Id head = label(), next = label(), exit = label();
  const Id first = ins(spv::OpAtomicLoad, u32(), {at, scope, c32(0)}), before = here_;
  const Id found = m_.new_id();
  jump(head);
  begin(head);
  const Incoming from[] = {{first, before}, {found, next}};
  const Id was = phi(u32(), from);
  eff(spv::OpLoopMerge, {exit, next, 0});
  jump(next);
  begin(next);
  const Id terms[] = {from_bits(Type::F32, was), v};
  const Id sum = compute(Opcode::Add, Type::F32, terms);
  const Id now = canonical_bits(Type::F32, sum, false);
  put(spv::OpAtomicCompareExchange, u32(), found, {at, scope, order, c32(0), now, was});
  const Id done = ins(spv::OpIEqual, b(), {found, was});
  eff(spv::OpBranchConditional, {done, exit, head});
  begin(exit);
  return from_bits(Type::F32, was);
}

}  // namespace vyre::emit_spirv
