#include "opt/passes/remove_dead_code.h"

#include <vector>

namespace vyre::opt {
namespace {

struct State {
  Program& p;
  IdMap<OpId, bool> live;       // by op
  IdMap<ValueId, bool> needed;  // by value
  std::vector<ValueId> work;
  IdMap<OpId, std::vector<OpId>> exits;  // by op: breaks and continues of a loop
  std::vector<OpId> order;
  bool changed = false;

  explicit State(Program& program)
      : p(program),
        live(p.ops.size(), false),
        needed(p.values.size(), false),
        exits(p.ops.size()) {}

  OpId parent_of(OpId op) const { return p.blocks[p.op(op).parent].parent; }
  OpId last_of(OpId op, uint32_t block) const {
    return p.blocks[p.op(op).first_block + block].last;
  }
  /// Operands of a loop before its initial values; arguments of its block before the carried ones.
  uint32_t head(OpId loop) const { return p.op(loop).code == Opcode::For ? 3 : 0; }
  uint32_t counters(OpId loop) const { return p.op(loop).code == Opcode::For ? 1 : 0; }
  /// The block whose arguments are the carried values, and the one that yields the next ones.
  uint32_t body(OpId loop) const { return p.op(loop).code == Opcode::For ? 0 : 1; }

  void collect() {
    std::vector<OpId> loops;
    walk_blocks(p, body_block, [&](Visit visit, OpId op, BlockId) {
      if (visit == Visit::Op) {
        order.push_back(op);
        const Opcode code = p.op(op).code;
        if (code == Opcode::Break || code == Opcode::Continue) exits[loops.back()].push_back(op);
        return;
      }
      if (op == none || !is_loop(p.op(op).code)) return;
      if (visit == Visit::EnterBlock)
        loops.push_back(op);
      else
        loops.pop_back();
    });
  }

  void need(ValueId v) {
    if (needed[v]) return;
    needed[v] = true;
    work.push_back(v);
  }

  void keep(OpId op) {
    for (; op != none && !live[op]; op = parent_of(op)) {
      live[op] = true;
      const Opcode code = p.op(op).code;
      if (code == Opcode::If) {
        need(p.operand(op, 0));
      } else if (is_loop(code)) {
        for (uint32_t i = 0; i < head(op); ++i) need(p.operand(op, i));
        if (code == Opcode::While) need(p.operand(last_of(op, 0), 0));
        for (const OpId exit : exits[op]) keep(exit);  // as deep as loops nest in loops only
      } else if (code != Opcode::Region && code != Opcode::Break && code != Opcode::Continue) {
        for (const ValueId v : p.operands(op)) need(v);
      }
    }
  }

  void find_roots() {
    for (const OpId op : order) {
      const Opcode code = p.op(op).code;
      switch (info(code).effect) {
        case Effect::Write:
        case Effect::Atomic:
        case Effect::Sync:
        case Effect::Trap: keep(op); break;
        case Effect::Control:
          if (code == Opcode::While) keep(op);
          break;
        case Effect::Exit:
          if (code == Opcode::Return || code == Opcode::Trap) keep(op);
          break;
        case Effect::Pure:
        case Effect::Read:
        case Effect::Convergent: break;
      }
    }
  }

  /// Marks a carried value: its argument, its result, and every value that flows into it.
  void need_carried(OpId loop, uint32_t i) {
    keep(loop);
    need(p.operand(loop, head(loop) + i));
    need(p.args(p.op(loop).first_block)[counters(loop) + i]);
    need(p.result(loop, i));
    const OpId last = last_of(loop, body(loop));
    if (p.op(last).code == Opcode::Yield) need(p.operand(last, i));
    for (const OpId exit : exits[loop]) need(p.operand(exit, i));
  }

  void spread() {
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      const Value& value = p.values[v];
      if (value.def == none) {
        const OpId loop = p.blocks[value.block].parent;
        if (value.index >= counters(loop))
          need_carried(loop, value.index - counters(loop));
        else
          keep(loop);
        continue;
      }
      const OpId op = value.def;
      if (is_loop(p.op(op).code)) {
        need_carried(op, value.index);
        continue;
      }
      keep(op);
      for (uint32_t b = 0; b < p.op(op).n_blocks; ++b)
        if (const OpId last = last_of(op, b); p.op(last).code == Opcode::Yield)
          need(p.operand(last, value.index));
    }
  }

  // ---- Removal.

  /// Returns the list without the entries for which `keep` is false; the first `first` always stay.
  template <class Keep>
  Range filtered(Range list, uint32_t first, Keep keep_at) {
    std::vector<ValueId> kept;
    for (uint32_t i = 0; i < list.count; ++i)
      if (i < first || keep_at(i - first)) kept.push_back(p.ids[list.begin + i]);
    if (kept.size() == list.count) return list;
    changed = true;
    return p.add_list(kept);
  }

  void trim(OpId op) {
    const Range results = p.op(op).results;
    std::vector<bool> kept(results.count);
    bool all = true;
    for (uint32_t i = 0; i < results.count; ++i) {
      kept[i] = needed[p.ids[results.begin + i]];
      all &= kept[i];
    }
    if (all) return;
    const auto keep_at = [&](uint32_t i) { return bool(kept[i]); };
    p.op(op).results = filtered(results, 0, keep_at);
    const auto trim_operands = [&](OpId o, uint32_t first) {
      p.op(o).operands = filtered(p.op(o).operands, first, keep_at);
    };
    if (is_loop(p.op(op).code)) {
      trim_operands(op, head(op));
      Block& carrier = p.blocks[p.op(op).first_block];
      carrier.args = filtered(carrier.args, counters(op), keep_at);
      if (const OpId last = last_of(op, body(op)); p.op(last).code == Opcode::Yield)
        trim_operands(last, 0);
      for (const OpId exit : exits[op]) trim_operands(exit, 0);
      return;
    }
    for (uint32_t b = 0; b < p.op(op).n_blocks; ++b)
      if (const OpId last = last_of(op, b); p.op(last).code == Opcode::Yield)
        trim_operands(last, 0);
  }

  bool sweep() {
    for (const OpId op : order) {
      const Op& o = p.op(op);
      if (o.parent == none || is_exit(o.code)) continue;
      if (live[op]) {
        if (is_control(o.code)) trim(op);
        continue;
      }
      p.unlink(op);
      changed = true;
    }
    if (changed) compact(p);
    return changed;
  }
};

}  // namespace

Result<bool> remove_dead_code(Program& program, PassContext&) {
  State s(program);
  s.collect();
  s.find_roots();
  s.spread();
  return s.sweep();
}

}  // namespace vyre::opt
