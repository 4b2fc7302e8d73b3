// Traps: recording the lowest invocation that trapped.
//
// A function of the module records it, so each trap is a call. The number of the lowest invocation
// is minimized first. Only an invocation that was the lowest then takes the lock and writes, unless
// a lower one has written meanwhile. The lock is released in the iteration that acquires it, so
// lanes that run in lockstep do not wait for one that waits for them. Without 64-bit atomics the
// low word is minimized, which is right for numbers that fit in it; others try to take the lock at
// once.

#include <cstddef>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

Id Emitter::control_pointer(uint32_t offset, Id type) {
  info_.uses_control = true;
  return pointer(moved_by(param_wide(control_offset), offset), type);
}

void Emitter::assert_op(OpId id) {
  const auto holds = constant(p_.operand(id, 0));
  if (holds && *holds & 1) return;
  const Id condition = get(p_.operand(id, 0)), code = get(p_.operand(id, 1));
  const Id failed = label(), on = label();
  eff(spv::OpSelectionMerge, {on, 0});
  eff(spv::OpBranchConditional, {condition, on, failed});
  begin(failed);
  trap(code, id);
  if (flow_ == Flow::Trapped) jump(on);
  begin(on);
  flow_ = Flow::On;
}

/// Ends the invocation, or makes a ghost of it.
void Emitter::trap(Id code, OpId id) {
  const auto tell = [&] {
    const Id x = global_id(0), y = global_id(1), z = global_id(2);
    const Wide number = once_wide({"number"}, [&] {
      Wide n = wide_of(Type::U32, z);
      const Id ids[] = {x, y};
      for (uint32_t d = 2; d-- > 0;) {
        const Wide size = times(wide_of(Type::U32, num_workgroups(d)), p_.workgroup[d]);
        // Named in order: the evaluation order of arguments is unspecified.
        const Wide id_in_row = wide_of(Type::U32, ids[d]);
        n = add(product(n, size), id_in_row);
      }
      return n;
    });
    const Wide control = param_wide(control_offset);
    info_.uses_control = true;
    const Id function = trap_function();
    const Id at = has64() ? control.low : pair(control.low, control.high);
    const Id n = has64() ? number.low : pair(number.low, number.high);
    const Id op = c32(lowered_.original[id].value());
    ins(spv::OpFunctionCall, m_.type_void(), {function, at, n, x, y, z, code, op});
  };
  if (f_.has_ghosts) {
    when(alive(), tell);
    // In control flow that is uniform over the workgroup, the whole workgroup ends.
    if (p_.op(id).code != Opcode::Assert && f_.flow(id) >= Uniformity::Workgroup) {
      eff(spv::OpReturn, {});
      flow_ = Flow::Gone;
      return;
    }
    eff(spv::OpStore, {dead_, bit(true)});
    flow_ = Flow::Trapped;
    return;
  }
  tell();
  eff(spv::OpReturn, {});
  flow_ = Flow::Gone;
}

/// a * b modulo 2^64.
Emitter::Wide Emitter::product(Wide a, Wide b_) {
  if (has64()) return {ins(spv::OpIMul, u64(), {a.low, b_.low}), 0};
  const Id low = ins(spv::OpIMul, u32(), {a.low, b_.low});
  const Id up = high_product(Type::U32, a.low, b_.low);
  const Id x = ins(spv::OpIMul, u32(), {a.low, b_.high});
  const Id y = ins(spv::OpIMul, u32(), {a.high, b_.low});
  return {low, ins(spv::OpIAdd, u32(), {ins(spv::OpIAdd, u32(), {x, y}), up})};
}

Id Emitter::trap_function() {
  if (trap_function_) return trap_function_;
  const Id number = has64() ? u64() : words(2);
  Emitter inner(lowered_, f_, given_, options_, unit_);
  const Signature signature = {.name = "trap",
                               .parameters = {number, number, u32(), u32(), u32(), u32(), u32()}};
  return trap_function_ = inner.function(signature, [&](std::span<const Id> parameters) {
    inner.tell_trap(parameters);
    return Id{0};
  });
}

/// The function's body. Its parameters: the control block's address, the invocation's number, and
/// the fields of the block from x on.
void Emitter::tell_trap(std::span<const Id> parameters) {
  const auto split = [&](Id x) { return has64() ? Wide{x, 0} : Wide{part(x, 0), part(x, 1)}; };
  const Wide control = split(parameters[0]), number = split(parameters[1]);
  const auto fields = parameters.subspan(2);
  const auto field = [&](size_t offset) {
    return pointer(moved_by(control, static_cast<uint32_t>(offset)), u32());
  };
  const Id scope = scope_of(spv::ScopeQueueFamily), relaxed = c32(0);
  const auto get_word = [&](size_t offset) {
    return ins(spv::OpAtomicLoad, u32(), {field(offset), scope, relaxed});
  };
  const auto set_word = [&](size_t offset, Id value) {
    eff(spv::OpAtomicStore, {field(offset), scope, relaxed, value});
  };

  // Tests whether a lower invocation has trapped before.
  Id higher = 0;
  if (has64() && options_.profile.atomics64) {
    m_.capability(spv::CapabilityInt64Atomics);
    const Id at = pointer(moved_by(control, offsetof(ControlBlock, lowest)), u64());
    const Id old = ins(spv::OpAtomicUMin, u64(), {at, scope, relaxed, number.low});
    higher = ins(spv::OpULessThanEqual, b(), {old, number.low});
  } else {
    const Id large = ins(spv::OpINotEqual, b(), {high_word(number), c32(0)});
    const Id word = ins(spv::OpSelect, u32(), {large, c32(~0u), low_word(number)});
    const Id old = ins(spv::OpAtomicUMin, u32(),
                       {field(offsetof(ControlBlock, lowest)), scope, relaxed, word});
    higher = ins(spv::OpULessThan, b(), {old, word});
  }
  when(negated(higher), [&] {
    const Id head = label(), body = label(), next = label(), exit = label();
    jump(head);
    begin(head);
    eff(spv::OpLoopMerge, {exit, next, 0});
    jump(body);
    begin(body);
    const Id acquire = semantics(spv::MemorySemanticsAcquireMask);
    const Id release = semantics(spv::MemorySemanticsReleaseMask);
    const Id held =
        ins(spv::OpAtomicCompareExchange, u32(),
            {field(offsetof(ControlBlock, lock)), scope, acquire, acquire, c32(1), c32(0)});
    const Id ours = ins(spv::OpIEqual, b(), {held, c32(0)});
    when(ours, [&] {
      const Id low = get_word(offsetof(ControlBlock, trapped));
      const Id high = get_word(offsetof(ControlBlock, trapped) + 4);
      when(below(number, wide_words(low, high)), [&] {
        set_word(offsetof(ControlBlock, trapped), low_word(number));
        set_word(offsetof(ControlBlock, trapped) + 4, high_word(number));
        for (size_t k = 0; k < fields.size(); ++k)
          set_word(offsetof(ControlBlock, x) + 4 * k, fields[k]);
      });
      eff(spv::OpAtomicStore, {field(offsetof(ControlBlock, lock)), scope, release, c32(0)});
    });
    jump(next);
    begin(next);
    eff(spv::OpBranchConditional, {ours, exit, head});
    begin(exit);
  });
}

static_assert(offsetof(ControlBlock, op) == offsetof(ControlBlock, x) + 16);

}  // namespace vyre::emit_spirv
