#include "codegen/spirv/spirv_analysis.h"

namespace vyre::emit_spirv {
namespace {

/// Narrow arrays that are read at byte offsets are words; so are those in shared memory where the
/// device has no narrow elements there. Tables always are.
IdMap<BufferId, bool> find_packed(const Program& p, const emit_exact::Profile& profile) {
  IdMap<BufferId, bool> packed(p.buffers.size(), false);
  for (const BufferId i : p.buffers.ids()) {
    const Buffer& b = p.buffers[i];
    if (b.role == Role::Table) packed[i] = true;
    if (b.role == Role::Shared && size_of(b.element) < 4 && !profile.shared_bytes) packed[i] = true;
  }
  walk(p, [&](OpId op) {
    if (p.op(op).code != Opcode::LoadAs) return;
    const BufferId b = p.memory(op).buffer;
    if (!is_parameter(p.buffers[b].role) && size_of(p.buffers[b].element) < 4) packed[b] = true;
  });
  return packed;
}

Lanes choose_lanes(const GpuAnalysis& f, const emit_exact::Profile& profile) {
  if (f.lanes == 1) return Lanes::Alone;
  const uint32_t native = profile.subgroup_size;
  // If lanes are numbered in another way, ids follow the device's numbers, and all subgroups must
  // be full.
  const bool numbered = profile.linear_lanes || f.invocations % native == 0;
  if (f.lanes > native || !numbered) return Lanes::Workgroup;
  return profile.subgroup_shuffle ? Lanes::Shuffle : Lanes::Slots;
}

/// True if a buffer that the kernel writes is used before a barrier, or in a loop that contains
/// one. Each op of the body counts as a whole.
bool uses_written_before_barrier(const Program& p, const GpuAnalysis& f) {
  bool uses = false, found = false;
  for (OpId op = p.blocks[body_block].first; op != none; op = p.op(op).next) {
    bool waits = false;
    const auto look = [&](OpId id) {
      const Opcode code = p.op(id).code;
      waits |= code == Opcode::Barrier || code == Opcode::UniformLoad ||
               info(code).effect == Effect::Convergent;
      if (info(code).attribute != AttrKind::Memory) return;
      const BufferId b = p.memory(id).buffer;
      uses |= is_parameter(p.buffers[b].role) && f.buffers[b].written;
    };
    look(op);
    for (uint32_t b = 0; b < p.op(op).n_blocks; ++b) walk(p, p.block(op, b), look);
    found |= waits && uses;
  }
  return found;
}

}  // namespace

IdMap<OpId, bool> find_saturating(const Program& p, const emit_exact::Profile& profile) {
  if (profile.saturate64) return {};
  const auto is_sum = [&](const Op& o) {
    return (o.code == Opcode::Add || o.code == Opcode::Sub) && is_integer(o.type) &&
           width_of(o.type) == 64;
  };
  const auto limits = [](Opcode code) {
    return code == Opcode::Min || code == Opcode::Max || code == Opcode::Clamp;
  };
  const auto chooses = [&](const Op& o) {
    if (o.code == Opcode::Yield) {
      const OpId owner = p.blocks[o.parent].parent;
      return owner != none && !is_loop(p.op(owner).code);
    }
    return limits(o.code) || o.code == Opcode::Select || o.code == Opcode::And ||
           o.code == Opcode::Or;
  };
  IdMap<OpId, bool> found(p.ops.size(), false);
  walk(p, [&](OpId op) {
    const Op& o = p.op(op);
    const bool chosen = chooses(o), sum = is_sum(o);
    if (!chosen && !sum) return;
    for (const ValueId v : p.operands(op)) {
      const OpId def = p.values[v].def;
      if (def == none) continue;
      if (chosen && is_sum(p.op(def))) found[def] = true;
      if (sum && limits(p.op(def).code)) found[op] = true;
    }
  });
  return found;
}

SpirvAnalysis analyze(const LoweredProgram& lowered, const Program& given,
                      const EmitOptions& options) {
  const emit_exact::Profile& profile = options.profile;
  const Program& p = lowered.program;
  const uint32_t size = options.subgroup_size ? options.subgroup_size : profile.subgroup_size;
  SpirvAnalysis f = {analyze_for_gpu(p, size)};
  for (const BufferId i : p.buffers.ids())
    f.pieces.push_back(given.buffers.contains(i) ? std::max(1u, size_of(given.buffers[i].element) /
                                                                    size_of(p.buffers[i].element))
                                                 : 1);
  f.packed = find_packed(p, profile);
  f.saturates = find_saturating(p, profile);
  f.lanes_by = choose_lanes(f, profile);

  bool barriers = false;
  walk(p, [&](OpId op) {
    const Op& o = p.op(op);
    if (o.code == Opcode::LaneId) f.has_lanes = true;
    if (o.code == Opcode::Barrier || o.code == Opcode::UniformLoad) barriers = true;
    if (is_atomic(o.code) && p.memory(op).acq_rel) f.orders = true;
    if (lowered.polls[op]) f.polls_any = true;
  });
  f.has_lanes |= f.has_subgroup_ops;
  f.in_a_row =
      f.has_lanes && p.workgroup[0] < f.invocations && p.workgroup[0] % profile.subgroup_size != 0;
  f.syncs = barriers || f.has_subgroup_ops;
  f.declared = f.invocations;
  if (f.syncs && !profile.partial_subgroups && f.invocations % profile.subgroup_size != 0) {
    f.in_a_row = true;
    f.declared += profile.subgroup_size - f.invocations % profile.subgroup_size;
  }
  f.orders |= f.syncs;
  f.orders_buffers = uses_written_before_barrier(p, f);
  f.has_ghosts = f.syncs && f.has_traps;
  const bool meets_in_workgroup = f.lanes_by == Lanes::Workgroup && f.has_subgroup_ops;
  if (f.has_ghosts || meets_in_workgroup || (f.syncs && f.polls_any && options.stoppable))
    f.uniformity = analyze_uniformity(p);
  return f;
}

}  // namespace vyre::emit_spirv
