// Values, constants and the attributes of accesses.

#include <algorithm>
#include <map>

#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

/// Changes each constant for which `to` returns a simpler value.
template <class To>
void change_constants(Candidate& c, Choice& choice, To to) {
  for (Program& p : c.module.kernels)
    walk(p, [&](OpId id) {
      Op& o = p.op(id);
      if (o.code != Opcode::Const) return;
      const uint64_t simpler = to(o.type, o.attr);
      if (complexity(o.type, simpler) < complexity(o.type, o.attr) && choice.take())
        o.attr = simpler;
    });
}

/// Returns whether it is block `number` of a `while`.
bool while_block(const Program& p, BlockId block, uint32_t number) {
  const OpId parent = p.blocks[block].parent;
  return parent != none && p.op(parent).code == Opcode::While &&
         p.op(parent).first_block + number == block;
}

/// Returns whether the operand may have several types, independently of the other operands.
bool is_free(const OpInfo& info, uint32_t operand) {
  return operand < info.operands.size() &&
         (info.operands[operand] == 'I' || info.operands[operand] == 'S');
}

}  // namespace

void drop_carried(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    for (const OpId op : r.ops()) {
      const Opcode code = p.op(op).code;
      if (!is_loop(code)) continue;
      const uint32_t head = code == Opcode::For ? 3 : 0, counters = code == Opcode::For ? 1 : 0;
      for (uint32_t i = 0; i < p.op(op).results.count; ++i) {
        if (!choice.take()) continue;
        const ValueId initial = r.operand(op, head + i);
        r.replace(p.args(p.block(op, 0))[counters + i], initial);
        r.replace(p.result(op, i), initial);
      }
    }
  });
}

void use_operand(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    for (const OpId op : r.ops()) {
      const Op& o = p.op(op);
      if (o.results.count != 1 || is_control(o.code)) continue;
      const ValueId result = p.result(op);
      for (uint32_t i = 0; i < o.operands.count; ++i) {
        if (p.type(p.operand(op, i)) != p.type(result)) continue;
        // The first one that is taken stays.
        if (choice.take() && r.resolve(result) == result) r.replace(result, r.operand(op, i));
      }
    }
  });
}

void use_earlier_value(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    std::vector<ValueId> visible;  // results and arguments, without constants
    std::vector<size_t> sizes;     // of `visible` when each open block began
    for (const auto& [what, op, block] : block_events(p)) {
      if (what == Visit::EnterBlock) {
        if (!while_block(p, block, 1)) sizes.push_back(visible.size());
        for (const ValueId v : p.args(block)) visible.push_back(v);
        continue;
      }
      if (what == Visit::LeaveBlock) {
        if (while_block(p, block, 0)) continue;  // the test's values are visible in the body
        visible.resize(sizes.back());
        sizes.pop_back();
        continue;
      }
      const Op& o = p.op(op);
      if (o.code == Opcode::Const || is_control(o.code) || o.results.count != 1) continue;
      const ValueId result = p.result(op);
      const auto earlier = std::find_if(visible.rbegin(), visible.rend(),
                                        [&](ValueId v) { return p.type(v) == p.type(result); });
      if (earlier != visible.rend() && choice.take()) r.replace(result, *earlier);
      visible.push_back(result);
    }
  });
}

void skip_operands(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    for (const OpId op : r.ops())
      for (uint32_t i = 0; i < p.op(op).operands.count; ++i) {
        if (!is_free(info(p.op(op).code), i)) continue;
        const OpId def = p.values[p.operand(op, i)].def;
        if (def == none || is_control(p.op(def).code)) continue;
        for (const ValueId from : p.operands(def)) {
          if (info(p.op(op).code).operands[i] == 'I' && !is_integer(p.type(from))) continue;
          if (!choice.take()) continue;
          p.ids[p.op(op).operands.begin + i] = from;
          r.mark_changed();
          break;
        }
      }
  });
}

void use_zero(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const IdMap<ValueId, uint32_t> uses = count_uses(p);
    const std::vector<OpId> order = r.ops();
    for (const OpId op : order) {
      if (!is_control(p.op(op).code)) continue;
      for (uint32_t i = 0; i < p.op(op).results.count; ++i) {
        const ValueId v = p.result(op, i);
        if (uses[v] > 0 && choice.take()) r.replace(v, r.insert_constant(op, p.type(v), 0));
      }
    }
  });
}

void use_one(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const IdMap<ValueId, uint32_t> uses = count_uses(p);
    const std::vector<OpId> order = r.ops();
    for (const OpId op : order) {
      const Op& o = p.op(op);
      if (o.code == Opcode::Const || is_control(o.code) || o.results.count != 1) continue;
      const ValueId v = p.result(op);
      if (uses[v] > 0 && choice.take()) replace_results(p, r, op, true);
    }
  });
}

void share_constants(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    std::map<std::pair<Type, uint64_t>, std::vector<OpId>> equal;
    for (const OpId op : r.ops())
      if (p.op(op).code == Opcode::Const) equal[{p.op(op).type, p.op(op).attr}].push_back(op);
    for (const auto& [constant, list] : equal) {
      if (list.size() < 2 || !choice.take()) continue;
      const ValueId shared =
          r.insert_constant(p.blocks[body_block].first, constant.first, constant.second);
      for (const OpId op : list) {
        r.replace(p.result(op), shared);
        r.remove(op);
      }
    }
  });
}

void constants_to_zero(Candidate& c, Choice& choice) {
  change_constants(c, choice, [](Type, uint64_t) -> uint64_t { return 0; });
}

void constants_to_one(Candidate& c, Choice& choice) {
  change_constants(c, choice, [](Type type, uint64_t) { return one(type); });
}

void halve_constants(Candidate& c, Choice& choice) { change_constants(c, choice, half); }

void simplify_memory_ops(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<OpId> order = r.ops();
    const IdMap<ValueId, uint32_t> uses = count_uses(p);
    for (const OpId op : order) {
      const OpInfo& i = info(p.op(op).code);
      if (p.op(op).code == Opcode::StoreN && choice.take()) {
        p.op(op).code = Opcode::Store;
        p.op(op).operands.count = 2;
        r.mark_changed();
      }
      if (p.op(op).code == Opcode::LoadN && choice.take()) {
        for (uint32_t k = 1; k < p.op(op).results.count; ++k)
          if (const ValueId v = p.result(op, k); uses[v] > 0)
            r.replace(v, r.insert_constant(op, p.type(v), 0));
        p.op(op).code = Opcode::Load;
        p.op(op).results.count = 1;
        r.mark_changed();
      }
      if (i.attribute != AttrKind::Memory || i.effect == Effect::Sync) continue;
      MemoryRef m = p.memory(op);
      if (!m.acq_rel && m.scope == Scope::Grid && !m.in_bounds && !m.read_only) continue;
      if (!choice.take()) continue;
      p.op(op).attr = MemoryRef{.buffer = m.buffer}.pack();
      r.mark_changed();
    }
    for (const OpId op : order) {
      const Op& o = p.op(op);
      if (info(o.code).attribute != AttrKind::Dim || o.attr == 0 || !choice.take()) continue;
      p.op(op).attr = 0;
      r.mark_changed();
    }
  });
}

}  // namespace vyre::reduce
