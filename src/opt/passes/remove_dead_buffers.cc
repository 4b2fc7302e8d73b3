#include "opt/passes/remove_dead_buffers.h"

#include "opt/analysis/analysis_cache.h"

namespace vyre::opt {
namespace {

struct State {
  Program& p;
  const DefUse& uses;
  IdMap<BufferId, bool> dead;  // by buffer

  State(Program& program, const DefUse& u)
      : p(program), uses(u), dead(program.buffers.size(), false) {}

  bool names_buffer(OpId op) const {
    const AttrKind kind = info(p.op(op).code).attribute;
    return kind == AttrKind::Memory || kind == AttrKind::Buffer;
  }

  /// True if the op only writes to its buffer.
  bool only_writes(OpId op) const {
    const Opcode code = p.op(op).code;
    if (code == Opcode::Store || code == Opcode::StoreN) return true;
    if (!is_atomic(code) || p.memory(op).acq_rel) return false;
    for (const ValueId v : p.results(op))
      if (uses.is_used(v)) return false;
    return true;
  }

  /// True for a number, or the length of a buffer with elements at least as large: neither can
  /// fail.
  bool never_fails(const Buffer& b) const {
    constexpr uint64_t most_bytes = uint64_t{1} << 40;  // far below the limit of a launch
    if (b.count == no_formula) return false;
    uint64_t count = 0;
    if (p.formulas.is_constant(b.count, &count)) return count <= most_bytes / size_of(b.element);
    const FormulaNode& node = p.formulas[b.count];
    return node.op == FormulaOp::Len && size_of(p.buffers[node.a].element) >= size_of(b.element);
  }

  bool find() {
    bool is_behind = true;  // after all buffers that the host numbers
    for (BufferId i = p.buffers.next_id(); i-- > BufferId(0);) {
      const Buffer& b = p.buffers[i];
      const bool is_ours = b.role == Role::Shared || b.role == Role::Private ||
                           b.role == Role::Table || (b.role == Role::Scratch && never_fails(b));
      is_behind &= is_ours;
      dead[i] = is_ours && is_behind;
    }
    walk(p, [&](OpId op) {
      if (names_buffer(op) && !only_writes(op)) dead[p.op(op).buffer()] = false;
    });
    for (const FormulaNode& node : p.formulas.nodes)
      if (node.op == FormulaOp::Len || node.op == FormulaOp::Scalar) dead[BufferId(node.a)] = false;
    for (const bool d : dead)
      if (d) return true;
    return false;
  }

  void remove() {
    IdMap<BufferId, BufferId> number(dead.size());
    PublicIdMap<BufferId, Buffer> kept;
    std::vector<std::byte> tables;
    for (const BufferId i : dead.ids()) {
      if (dead[i]) continue;
      number[i] = kept.next_id();
      kept.push_back(p.buffers[i]);
    }
    std::vector<OpId> order;
    walk(p, [&](OpId op) { order.push_back(op); });
    for (const OpId op : order) {
      if (!names_buffer(op)) continue;
      const BufferId buffer = p.op(op).buffer();
      if (dead[buffer])
        p.unlink(op);
      else
        p.op(op).set_buffer(number[buffer]);
    }
    for (FormulaNode& node : p.formulas.nodes)
      if (node.op == FormulaOp::Len || node.op == FormulaOp::Scalar)
        node.a = number[BufferId(node.a)].value();
    keep_tables(kept, tables);
    p.buffers = std::move(kept);
    p.table_bytes = std::move(tables);
    compact(p);
  }

  void keep_tables(PublicIdMap<BufferId, Buffer>& kept, std::vector<std::byte>& tables) const {
    for (Buffer& b : kept) {
      if (b.role != Role::Table) continue;
      uint64_t count = 0;
      p.formulas.is_constant(b.count, &count);
      const uint64_t bytes = count * size_of(b.element);
      const auto begin = p.table_bytes.begin() + std::ptrdiff_t(b.table_offset);
      b.table_offset = tables.size();
      tables.insert(tables.end(), begin, begin + std::ptrdiff_t(bytes));
    }
  }
};

}  // namespace

Result<bool> remove_dead_buffers(Program& program, PassContext& context) {
  State s(program, context.facts.def_use());
  if (!s.find()) {
    context.nothing_to_do = true;
    return false;
  }
  s.remove();
  return true;
}

}  // namespace vyre::opt
