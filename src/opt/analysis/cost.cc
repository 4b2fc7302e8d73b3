#include "opt/analysis/cost.h"

#include <algorithm>
#include <vector>

#include "ir/stats.h"

namespace vyre::opt {
namespace {

uint64_t words(Type t) { return t == Type::Void ? 0 : (size_of(t) + 3) / 4; }

}  // namespace

uint64_t register_pressure(const Program& p) {
  // Positions in program order; where each op's blocks end.
  IdMap<OpId, uint32_t> at(p.ops.size(), 0), end(p.ops.size(), 0);
  IdMap<OpId, OpId> loop(p.ops.size(), none);  // the innermost loop around an op
  uint32_t position = 0;
  std::vector<OpId> loops;
  walk_blocks(p, body_block, [&](Visit visit, OpId op, BlockId) {
    if (visit == Visit::Op) {
      at[op] = end[op] = position++;
      loop[op] = loops.empty() ? none : loops.back();
      return;
    }
    if (op == none) return;
    if (visit == Visit::EnterBlock) {
      if (is_loop(p.op(op).code)) loops.push_back(op);
    } else {
      end[op] = position;
      if (is_loop(p.op(op).code)) loops.pop_back();
    }
  });

  // Where a value begins, and the loop that it was made in.
  const auto begin_of = [&](ValueId v) {
    const Value& value = p.values[v];
    if (value.def != none) return p.op(value.def).n_blocks ? end[value.def] : at[value.def];
    const OpId owner = p.blocks[value.block].parent;
    return owner == none ? 0 : at[owner];
  };
  const auto loop_of = [&](ValueId v) {
    const Value& value = p.values[v];
    if (value.def != none) return loop[value.def];
    const OpId owner = p.blocks[value.block].parent;
    return owner != none && is_loop(p.op(owner).code) ? owner : none;
  };
  IdMap<ValueId, uint32_t> last(p.values.size(), 0);
  IdMap<ValueId, bool> used(p.values.size(), false);
  walk(p, [&](OpId op) {
    for (const ValueId v : p.operands(op)) {
      uint32_t until = at[op];
      // A use inside a loop that the value came into from outside keeps it for all iterations.
      const OpId home = loop_of(v);
      OpId outermost = none;
      for (OpId l = loop[op]; l != none && l != home; l = loop[l]) outermost = l;
      if (outermost != none) until = end[outermost];
      last[v] = std::max(last[v], until);
      used[v] = true;
    }
  });

  std::vector<int64_t> change(position + 2, 0);
  for (const ValueId v : p.values.ids()) {
    const Value& value = p.values[v];
    if (!used[v] || (value.def != none && p.op(value.def).code == Opcode::Const)) continue;
    const uint32_t begin = begin_of(v);
    change[begin] += int64_t(words(value.type));
    change[std::max(begin, last[v]) + 1 > position + 1 ? position + 1
                                                       : std::max(begin, last[v]) + 1] -=
        int64_t(words(value.type));
  }
  int64_t alive = 0, most = 0;
  for (const int64_t c : change) most = std::max(most, alive += c);
  return uint64_t(most);
}

Cost cost_of(const Program& p) {
  const ProgramStats s = stats(p);
  Cost c;
  c.nodes = p.ops.size() + p.blocks.size() + p.values.size();
  c.static_storage_bytes = s.shared_bytes + s.private_bytes + s.table_bytes + s.static_device_bytes;
  c.memory_ops = s.memory_ops;
  c.atomics = s.atomics;
  c.control_flow = s.control_ops;
  walk(p, [&](OpId op) {
    const Opcode code = p.op(op).code;
    const bool leaves = code == Opcode::Break || code == Opcode::Continue ||
                        code == Opcode::Return || code == Opcode::Trap;
    if (leaves && p.op(op).parent != body_block) ++c.control_flow;
    if (code == Opcode::Const || code == Opcode::Region || (is_exit(code) && !leaves)) return;
    ++c.instructions;
  });
  c.register_pressure = register_pressure(p);
  c.ir_allocations = 0;
  const auto count = [&](const auto& array) { c.ir_allocations += !array.empty(); };
  count(p.buffers), count(p.ops), count(p.values), count(p.blocks), count(p.ids);
  count(p.locations), count(p.strings), count(p.table_bytes);
  c.ir_bytes = s.ir_bytes;
  return c;
}

uint64_t largest_reduction(const Cost& before, const Cost& after) {
  uint64_t most = 0;
  for (const CostField& f : cost_fields)
    if (before.*f.value > after.*f.value) most = std::max(most, before.*f.value - after.*f.value);
  return most;
}

}  // namespace vyre::opt
