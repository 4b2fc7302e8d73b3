#include "codegen/common/gpu_analysis.h"

#include <algorithm>

#include "check/uniformity.h"
#include "codegen/common/first_writes.h"
#include "transform/structure_exits.h"

namespace vyre {
namespace {

constexpr uint64_t array_align = 16;  // arrays are cleared in pieces of this size

/// True if both formulas are the same, term by term. Deep formulas count as different.
bool is_same(const FormulaPool& f, FormulaId a, FormulaId b, int depth = 8) {
  if (a == b) return true;
  const FormulaNode &x = f[a], &y = f[b];
  if (depth == 0 || x.op != y.op) return false;
  if (x.op <= FormulaOp::Scalar) return x == y;
  return is_same(f, x.a, y.a, depth - 1) && is_same(f, x.b, y.b, depth - 1);
}

class GpuAnalyzer {
 public:
  GpuAnalyzer(const Program& p, GpuAnalysis& f) : f_(f), p_(p) {}

  void run() {
    f_.buffers.assign(p_.buffers.size(), {});
    place_arrays();
    find_lengths();
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op) visit(op);
      if (what == Visit::EnterBlock) f_.depth = std::max(f_.depth, ++depth_);
      if (what == Visit::LeaveBlock) leave(block);
    });
  }

 private:
  void place_arrays() {
    for (const BufferId i : p_.buffers.ids()) {
      const Buffer& b = p_.buffers[i];
      if (is_parameter(b.role)) continue;
      BufferAnalysis& f = f_.buffers[i];
      p_.formulas.is_constant(b.count, &f.count);
      if (b.role == Role::Table) continue;
      uint64_t& end = b.role == Role::Shared ? f_.shared_bytes : f_.private_bytes;
      f.offset = end;
      end += (f.count * size_of(b.element) + array_align - 1) / array_align * array_align;
    }
  }

  /// Launches hold that lengths are those of their formulas. Programs have few buffers.
  void find_lengths() {
    for (const BufferId i : p_.buffers.ids()) {
      const Buffer& b = p_.buffers[i];
      f_.buffers[i].length_of = i;
      if (!is_parameter(b.role) || b.role == Role::Scalar || b.count == no_formula) continue;
      const FormulaNode& n = p_.formulas[b.count];
      if (n.op == FormulaOp::Len && n.a < i.value())
        f_.buffers[i].length_of = f_.buffers[BufferId(n.a)].length_of;
      for (BufferId k{0}; k < i && k.value() < 64 && f_.buffers[i].length_of == i; ++k)
        if (is_parameter(p_.buffers[k].role) && p_.buffers[k].role != Role::Scalar &&
            p_.buffers[k].count != no_formula && is_same(p_.formulas, p_.buffers[k].count, b.count))
          f_.buffers[i].length_of = f_.buffers[k].length_of;
    }
  }

  void visit(OpId id) {
    const Op& o = p_.op(id);
    const OpInfo& i = info(o.code);
    if (i.attribute == AttrKind::Memory) {
      BufferAnalysis& b = f_.buffers[p_.memory(id).buffer];
      f_.buffers[b.length_of].tests += loops_ ? 4 : 1;
      if (i.effect == Effect::Write || (i.effect == Effect::Atomic && o.code != Opcode::AtomicLoad))
        b.written = true;
      if (i.effect != Effect::Write && o.code != Opcode::AtomicStore) b.loaded = true;
    }
    if (i.effect == Effect::Convergent) f_.has_subgroup_ops = true;
    switch (o.code) {
      case Opcode::Len: f_.buffers[f_.buffers[o.buffer()].length_of].has_len = true; break;
      case Opcode::Trap:
      case Opcode::Assert: f_.has_traps = true; break;
      case Opcode::Barrier:
        if (Scope(o.attr) == Scope::Grid) f_.waits_for_grid = true;
        if (Scope(o.attr) == Scope::Subgroup) f_.has_subgroup_ops = true;
        break;
      case Opcode::UniformLoad:
        (p_.memory(id).scope == Scope::Grid ? f_.waits_for_grid : f_.loads_uniformly) = true;
        break;
      default: break;
    }
    if (is_loop(o.code)) ++loops_;
  }

  void leave(BlockId block) {
    --depth_;
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    const Op& o = p_.op(owner);
    if (block != o.first_block + (o.n_blocks - 1)) return;
    if (is_loop(o.code)) --loops_;
  }

  GpuAnalysis& f_;
  const Program& p_;
  uint32_t depth_ = 0;
  uint32_t loops_ = 0;  // loops around the op
};

void find_zeros(const Program& p, GpuAnalysis& f) {
  bool any = false;
  for (const BufferId i : p.buffers.ids())
    any |= f.buffers[i].loaded &&
           (p.buffers[i].role == Role::Shared || p.buffers[i].role == Role::Private);
  if (!any) return;
  const UniformityInfo uniformity = analyze_uniformity(p);
  const IdMap<OpId, bool> holds = plan::find_split_ops(p, Scope::Workgroup);
  const IdMap<BufferId, bool> needed = find_needed_zeros({.program = p,
                                                          .uniformity = uniformity,
                                                          .holds_barrier = holds,
                                                          .workgroup = f.invocations,
                                                          .lanes = f.lanes});
  for (const BufferId i : p.buffers.ids()) f.buffers[i].needs_zeros = needed[i];
}

}  // namespace

GpuAnalysis analyze_for_gpu(const Program& p, uint32_t subgroup_size) {
  GpuAnalysis f;
  f.invocations = std::max(1u, p.workgroup[0] * p.workgroup[1] * p.workgroup[2]);
  f.lanes = p.subgroup ? p.subgroup : subgroup_size;
  f.uses = count_uses(p);
  GpuAnalyzer(p, f).run();
  find_zeros(p, f);
  return f;
}

}  // namespace vyre
