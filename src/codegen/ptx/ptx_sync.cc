// Waiting, failing and being stopped.
//
// A thread that leaves, by a trap or the stop flag, exits: barriers count the threads that have not
// exited, so no thread waits for it.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {
namespace {

// The stop flag is in device memory, so a poll is a load that the L2 cache serves.
constexpr uint32_t looks_per_poll = 256;

}  // namespace

Emitter::Text Emitter::control() {
  info_.uses_control = true;
  return once("control", [&] {
    Text r = wide();
    ins("cvta.to.global.u64 {}, {}", r, param(control_offset, "u64", Class::Long));
    return r;
  });
}

Emitter::Text Emitter::stop_flag() {
  info_.uses_stop = true;
  return once("stop", [&] {
    Text r = wide();
    ins("cvta.to.global.u64 {}, {}", r, param(stop_offset, "u64", Class::Long));
    return r;
  });
}

/// `bar.sync` needs all threads of a warp together. Threads of subgroups that are parts of a warp,
/// or that wait in a loop, may have diverged (one barrier of a block of one warp was seen not to
/// wait for them), so the warp reconverges first.
void Emitter::workgroup_barrier() {
  if (f_.has_subgroup_ops && f_.lanes != 32) {
    ins("bar.warp.sync {}", warp_mask());
    return ins("barrier.sync 0");
  }
  ins("bar.sync 0");
}

void Emitter::barrier(Scope scope, OpId at) {
  switch (scope) {
    case Scope::Subgroup:
      if (is_pair()) return pair_sync();
      return ins("bar.warp.sync {}", member_mask());
    case Scope::Workgroup: return workgroup_barrier();
    case Scope::Grid: return grid_barrier(at);
  }
}

/// A native grid barrier. The last block to arrive starts the next generation; all other blocks
/// wait for it. One thread arrives for its block, between two barriers of the block, which order
/// the memory of its other threads. When the launch is stopped, this thread exits. Its block no
/// longer waits and runs to its end or to the next poll; the output of a stopped launch is
/// discarded.
void Emitter::grid_barrier(OpId at) {
  const Text c = control(), first = pred();
  const uint32_t others = new_label(), wait = new_label(), open = new_label();
  workgroup_barrier();
  ins("setp.ne.u32 {}, {}, 0", first, linear_id());
  ins("@{} bra $L{}", first, others);
  const Text blocks = once("blocks", [&] {
    Text n = word();
    // Named in order: the evaluation order of arguments is unspecified.
    const Text rows = num_workgroups(1);
    ins("mul.lo.u32 {}, {}, {}", n, num_workgroups(0), rows);
    ins("mul.lo.u32 {}, {}, {}", n, n, num_workgroups(2));
    return n;
  });
  const Text generation = word(), before = word(), now = word(), last = word(), p = pred();
  const auto field = [&](size_t offset) { return fmt::format("[{}+{}]", c, offset); };
  const Text word_at = field(offsetof(ControlBlock, generation));
  ins("ld.relaxed.gpu.global.u32 {}, {}", generation, word_at);
  ins("fence.acq_rel.gpu");  // the block's writes before its arrival
  ins("atom.acq_rel.gpu.global.add.u32 {}, {}, 1", before, field(offsetof(ControlBlock, arrived)));
  ins("sub.u32 {}, {}, 1", last, blocks);
  ins("setp.eq.u32 {}, {}, {}", p, before, last);
  ins("@{} bra $L{}", p, open);
  const Text looks = word();
  if (options_.stoppable) ins("mov.u32 {}, {}", looks, looks_per_poll);
  label(wait);
  ins("ld.acquire.gpu.global.u32 {}, {}", now, word_at);
  ins("setp.ne.u32 {}, {}, {}", p, now, generation);
  ins("@{} bra $L{}", p, others);
  if (options_.stoppable) {
    const Text stop = word();
    ins("sub.u32 {}, {}, 1", looks, looks);
    ins("setp.ne.u32 {}, {}, 0", p, looks);
    ins("@{} bra $L{}", p, wait);
    ins("mov.u32 {}, {}", looks, looks_per_poll);
    ins("ld.relaxed.gpu.global.u32 {}, [{}]", stop, stop_flag());
    ins("setp.ne.u32 {}, {}, 0", p, stop);
    if (!stop_tail_) stop_op_ = word(), stop_label_ = new_label(), stop_tail_ = true;
    ins("mov.u32 {}, {}", stop_op_, lowered_.original[at].value() + 1);
    ins("@{} bra $L{}", p, stop_label_);
  }
  ins("bra $L{}", wait);
  label(open);
  ins("st.relaxed.gpu.global.u32 {}, 0", field(offsetof(ControlBlock, arrived)));
  ins("add.u32 {}, {}, 1", now, generation);
  ins("st.release.gpu.global.u32 {}, {}", word_at, now);
  label(others);
  ins("bar.warp.sync {}", warp_mask());  // thread 0 has waited in a loop
  workgroup_barrier();
  ins("fence.acq_rel.gpu");
}

/// A barrier, one load, a barrier. At workgroup scope every thread writes the value it has loaded
/// to one slot, and all threads read the value that remains. So it is uniform even if other
/// workgroups race for it, and even if some threads have trapped.
void Emitter::uniform_load(OpId id) {
  const Scope scope = p_.memory(id).scope;
  barrier(scope, id);
  load_op(id);
  if (scope == Scope::Grid) return barrier(scope, id);
  const ValueId v = p_.result(id);
  const Type t = p_.type(v);
  const Text base = shared_base(), r = dest(v);
  if (t == Type::Bool) {
    const Text flag = word();
    ins("selp.u32 {}, 1, 0, {}", flag, r);
    ins("st.shared.u32 [{}+{}], {}", base, uniform_slot_, flag);
    workgroup_barrier();
    ins("ld.shared.u32 {}, [{}+{}]", flag, base, uniform_slot_);
    ins("setp.ne.u32 {}, {}, 0", r, flag);
  } else {
    ins("st.shared.{} [{}+{}], {}", suffix(t), base, uniform_slot_, r);
    workgroup_barrier();
    ins("ld.shared.{} {}, [{}+{}]", suffix(t), r, base, uniform_slot_);
  }
}

// ---- Traps.

void Emitter::assert_op(OpId id) {
  const auto holds = constant(p_.operand(id, 0));
  if (holds && *holds & 1) return;
  const uint32_t on = new_label();
  ins("@{} bra $L{}", get(p_.operand(id, 0)), on);
  trap(get(p_.operand(id, 1)), id);
  label(on);
}

void Emitter::trap(const Text& code, OpId id) {
  if (!trap_tail_) trap_code_ = word(), trap_op_ = word(), trap_label_ = new_label();
  trap_tail_ = true;
  ins("mov.u32 {}, {}", trap_code_, code);
  ins("mov.u32 {}, {}", trap_op_, lowered_.original[id].value());
  ins("bra $L{}", trap_label_);
}

/// Records the trap, and exits. The number of the lowest invocation is minimized first. Only an
/// invocation that was the lowest then takes the lock and writes, unless a lower one has written
/// meanwhile.
void Emitter::trap_tail() {
  const Text c = control();
  const auto field = [&](size_t offset) { return fmt::format("[{}+{}]", c, offset); };
  const Text number = wide(), size = wide(), next = wide(), old = wide(), p = pred(), held = word();
  const uint32_t lock = new_label(), unlock = new_label(), end = new_label();
  label(trap_label_);
  Text id[3];
  for (uint32_t d = 0; d < 3; ++d) id[d] = global_id(d);
  ins("cvt.u64.u32 {}, {}", number, id[2]);
  for (uint32_t d = 2; d-- > 0;) {
    ins("mul.wide.u32 {}, {}, {}", size, num_workgroups(d), p_.workgroup[d]);
    ins("cvt.u64.u32 {}, {}", next, id[d]);
    ins("mad.lo.u64 {}, {}, {}, {}", number, number, size, next);
  }
  ins("atom.relaxed.gpu.global.min.u64 {}, {}, {}", old, field(offsetof(ControlBlock, lowest)),
      number);
  ins("setp.le.u64 {}, {}, {}", p, old, number);
  ins("@{} bra $L{}", p, end);
  label(lock);
  ins("atom.acquire.gpu.global.cas.b32 {}, {}, 0, 1", held, field(offsetof(ControlBlock, lock)));
  ins("setp.ne.u32 {}, {}, 0", p, held);
  ins("@{} bra $L{}", p, lock);
  ins("ld.relaxed.gpu.global.u64 {}, {}", old, field(offsetof(ControlBlock, trapped)));
  ins("setp.le.u64 {}, {}, {}", p, old, number);
  ins("@{} bra $L{}", p, unlock);
  ins("st.relaxed.gpu.global.u64 {}, {}", field(offsetof(ControlBlock, trapped)), number);
  ins("st.relaxed.gpu.global.u32 {}, {}", field(offsetof(ControlBlock, x)), id[0]);
  ins("st.relaxed.gpu.global.u32 {}, {}", field(offsetof(ControlBlock, y)), id[1]);
  ins("st.relaxed.gpu.global.u32 {}, {}", field(offsetof(ControlBlock, z)), id[2]);
  ins("st.relaxed.gpu.global.u32 {}, {}", field(offsetof(ControlBlock, code)), trap_code_);
  ins("st.relaxed.gpu.global.u32 {}, {}", field(offsetof(ControlBlock, op)), trap_op_);
  label(unlock);
  ins("st.release.gpu.global.u32 {}, 0", field(offsetof(ControlBlock, lock)));
  label(end);
  if (uses_pairs()) {  // absent from now on
    const Text at = word();
    const Text base = shared_base();
    ins("mad.lo.u32 {}, {}, 4, {}", at, linear_id(), base);
    ins("st.release.cta.shared.u32 [{}+{}], 0xffffffff", at, pair_turns_);
  }
  ins("exit");
}

// ---- The stop flag.

/// At a back-edge of a loop that may run for long. Continues at the label `to`.
void Emitter::poll(OpId loop, uint32_t to) {
  if (!options_.stoppable) return ins("bra $L{}", to);
  if (poll_counter_.empty()) {
    poll_counter_ = word();
    at_start([&] { ins("mov.u32 {}, {}", poll_counter_, back_edges_per_poll); });
  }
  if (!stop_tail_) stop_op_ = word(), stop_label_ = new_label(), stop_tail_ = true;
  const Text p = pred(), stop = word();
  ins("sub.u32 {}, {}, {}", poll_counter_, poll_counter_, lowered_.polls[loop]);
  ins("setp.gt.s32 {}, {}, 0", p, poll_counter_);
  ins("@{} bra $L{}", p, to);
  ins("mov.u32 {}, {}", poll_counter_, back_edges_per_poll);
  ins("ld.relaxed.gpu.global.u32 {}, [{}]", stop, stop_flag());
  ins("mov.u32 {}, {}", stop_op_, lowered_.original[loop].value() + 1);
  ins("setp.ne.u32 {}, {}, 0", p, stop);
  ins("@{} bra $L{}", p, stop_label_);
  ins("bra $L{}", to);
}

void Emitter::stop_tail() {
  label(stop_label_);
  ins("st.relaxed.gpu.global.u32 [{}+{}], {}", control(), offsetof(ControlBlock, stopped_at),
      stop_op_);
  if (uses_pairs()) {
    const Text at = word();
    const Text base = shared_base();
    ins("mad.lo.u32 {}, {}, 4, {}", at, linear_id(), base);
    ins("st.release.cta.shared.u32 [{}+{}], 0xffffffff", at, pair_turns_);
  }
  ins("exit");
}

}  // namespace vyre::emit_ptx
