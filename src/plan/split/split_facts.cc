#include "plan/split/split_facts.h"

#include <algorithm>
#include <numeric>

#include "transform/structure_exits.h"

namespace vyre::plan {
namespace {

/// Rematerialized values take at most this many ops.
constexpr uint32_t most_ops = 24;

uint32_t op_cost(Opcode code) {
  switch (code) {
    case Opcode::Exp:
    case Opcode::Exp2:
    case Opcode::Log:
    case Opcode::Log2:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Tan:
    case Opcode::Tanh:
    case Opcode::Pow:
    case Opcode::Atan2: return most_ops;
    default: return 1;
  }
}

}  // namespace

SplitFacts::SplitFacts(const Program& program, bool parameters)
    : p(program),
      parameters(parameters),
      splits(find_split_ops(program)),
      top(program.values.size(), false),
      plain(program.ops.size()),
      uniformity(analyze_uniformity(program)),
      host(program.values.size(), true),
      needed(program.values.size(), false),
      cost(program.values.size(), never),
      merged(program.ops.size(), false) {
  find_plain_ops();
  find_host_values();
  find_costs();
  find_needed_values();
}

bool SplitFacts::is_carried(ValueId v) const {
  const Value& value = p.values[v];
  if (value.def != none) return is_split_loop(value.def);
  return is_split_loop(p.blocks[value.block].parent);
}

ValueId SplitFacts::home(ValueId v) const {
  const Value& value = p.values[v];
  if (value.def == none || !is_split_loop(value.def)) return v;
  return p.args(p.op(value.def).first_block)[value.index];
}

bool SplitFacts::wanted(OpId op) const {
  if (plain[op].effect) return true;
  const auto results = p.results(op);
  return std::any_of(results.begin(), results.end(), [&](ValueId v) { return needed[v]; });
}

void SplitFacts::find_plain_ops() {
  OpId outer = none;  // the plain op around
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId block) {
    if (what == Visit::EnterBlock) {
      if (outer == none)
        for (const ValueId v : p.args(block)) top[v] = true;
      return;
    }
    if (what == Visit::LeaveBlock) {
      if (outer != none && op == outer &&
          block == p.op(outer).first_block + (p.op(outer).n_blocks - 1))
        outer = none;
      return;
    }
    const Op& o = p.op(op);
    if (outer == none)
      for (const ValueId v : p.results(op)) top[v] = true;
    PlainOp& info_of = plain[outer == none ? op : outer];
    const OpInfo& row = info(o.code);
    const uint64_t bit = row.attribute == AttrKind::Memory ? 1ull << (uint32_t(o.attr) & 63) : 0;
    switch (row.effect) {
      case Effect::Read: info_of.reads |= bit; break;
      case Effect::Write:
        info_of.writes |= bit;
        info_of.effect = true;
        break;
      case Effect::Atomic:
        info_of.reads |= bit;
        info_of.writes |= bit;
        info_of.effect = true;
        break;
      case Effect::Sync:
        info_of.reads |= bit;
        info_of.sync = true;
        info_of.effect |= !is_grid_sync(p, op);  // others may rely on its barriers
        break;
      case Effect::Convergent: info_of.sync = true; break;
      case Effect::Trap: info_of.effect = true; break;
      case Effect::Control:
        info_of.effect |= o.code == Opcode::While && !splits[op];  // it may run for ever
        break;
      case Effect::Exit:
        info_of.effect |= o.code == Opcode::Return || o.code == Opcode::Trap;
        break;
      case Effect::Pure: break;
    }
    if (outer == none && o.n_blocks != 0 && !splits[op]) outer = op;
  });
}

// Operands have smaller ids in a compacted program.
void SplitFacts::find_costs() {
  for (const ValueId v : p.values.ids()) {
    const OpId def = p.values[v].def;
    if (parameters && host[v] && is_carried(v)) cost[v] = 1;
    if (def == none || !is_pure(p.op(def).code)) continue;
    uint32_t sum = op_cost(p.op(def).code);
    for (const ValueId operand : p.operands(def)) sum += cost[operand];
    if (sum <= most_ops) cost[v] = static_cast<uint8_t>(sum);
  }
}

// Every value is host-computable unless it depends on one that is not: spread from the sources.
void SplitFacts::find_host_values() {
  std::vector<std::pair<ValueId, ValueId>> edges;
  std::vector<ValueId> queue;
  const auto lower = [&](ValueId v) {
    if (!host[v]) return;
    host[v] = false;
    queue.push_back(v);
  };
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    switch (o.code) {
      case Opcode::GlobalId:
      case Opcode::LocalId:
      case Opcode::WorkgroupId:
      case Opcode::LaneId: return lower(p.result(id));
      case Opcode::Region:
      case Opcode::If:
        for (uint32_t i = 0; i < o.results.count; ++i) {
          const ValueId r = p.result(id, i);
          if (o.code == Opcode::If) edges.emplace_back(p.operand(id, 0), r);
          for (uint32_t b = 0; b < o.n_blocks; ++b)
            if (yields(id, b)) edges.emplace_back(p.operand(end_of(id, b), i), r);
        }
        return;
      case Opcode::While:
        if (splits[id] && o.results.count != 0) {
          for (uint32_t i = 0; i < o.results.count; ++i) {
            const ValueId arg = p.args(o.first_block)[i];
            edges.emplace_back(p.operand(id, i), arg);
            edges.emplace_back(arg, p.result(id, i));
            edges.emplace_back(test_of(id), arg);
            if (yields(id, 1)) edges.emplace_back(p.operand(end_of(id, 1), i), arg);
          }
          return;
        }
        break;
      default: break;
    }
    if (is_pure(o.code)) {
      for (const ValueId operand : p.operands(id)) edges.emplace_back(operand, p.result(id));
      return;
    }
    for (const ValueId v : p.results(id)) lower(v);
    if (is_loop(o.code))
      for (const ValueId v : p.args(o.first_block)) lower(v);
  });
  IdMap<ValueId, uint32_t> begin(p.values.size() + 1, 0);
  std::vector<ValueId> targets(edges.size());
  for (const auto& [from, to] : edges) ++begin[from + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  IdMap<ValueId, uint32_t> at(begin.begin(), begin.end() - 1);
  for (const auto& [from, to] : edges) targets[at[from]++] = to;
  for (size_t i = 0; i < queue.size(); ++i) {
    const ValueId v = queue[i];
    for (uint32_t e = begin[v]; e < begin[v + 1]; ++e) lower(targets[e]);
  }
}

void SplitFacts::find_needed_values() {
  std::vector<ValueId> queue;
  IdMap<OpId, bool> done(p.ops.size(), false);
  const auto need = [&](ValueId v) {
    if (!top[v] || needed[v]) return;
    needed[v] = true;
    queue.push_back(v);
  };
  const auto need_op = [&](OpId op) {  // all values that it uses, also inside
    if (done[op]) return;
    done[op] = true;
    for (const ValueId v : p.operands(op)) need(v);
    for (uint32_t b = 0; b < p.op(op).n_blocks; ++b)
      walk(p, p.op(op).first_block + b, [&](OpId inner) {
        for (const ValueId v : p.operands(inner)) need(v);
      });
  };
  // Roots: ops with effects, and values that decide control flow.
  const auto visit_block = [&](BlockId block) {
    for (OpId at = p.blocks[block].first; at != none; at = p.op(at).next) {
      const Op& o = p.op(at);
      if (splits[at]) {
        if (o.code == Opcode::If) need(p.operand(at, 0));
        if (o.code == Opcode::While && !is_host_loop(at)) need(test_of(at));
      } else if (plain[at].effect) {
        need_op(at);
      }
    }
  };
  visit_block(body_block);
  walk(p, [&](OpId op) {
    if (splits[op])
      for (uint32_t b = 0; b < p.op(op).n_blocks; ++b) visit_block(p.op(op).first_block + b);
  });
  while (!queue.empty()) {
    const ValueId v = queue.back();
    queue.pop_back();
    const Value& value = p.values[v];
    if (value.def == none) {  // an argument of a split loop
      const OpId loop = p.blocks[value.block].parent;
      need(p.operand(loop, value.index));
      if (yields(loop, 1)) need(p.operand(end_of(loop, 1), value.index));
    } else if (is_split_loop(value.def)) {
      need(home(v));
    } else if (splits[value.def]) {
      for (uint32_t b = 0; b < p.op(value.def).n_blocks; ++b)
        if (yields(value.def, b)) need(p.operand(end_of(value.def, b), value.index));
    } else {
      need_op(value.def);
    }
  }
}

}  // namespace vyre::plan
