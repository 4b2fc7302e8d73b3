// Values, constants and the attributes of accesses.

#include <map>

#include "reduce/rewrite.h"

namespace vyre::reduce {
namespace {

/// Changes each constant for which `to` gives a simpler value.
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

void use_zero(Candidate& c, Choice& choice) {
  for_each_kernel(c, [&](Program& p, opt::Rewriter& r) {
    const std::vector<uint32_t> uses = count_uses(p);
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
    const std::vector<uint32_t> uses = count_uses(p);
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
          r.insert_constant(p.blocks[0].first, constant.first, constant.second);
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
    const std::vector<uint32_t> uses = count_uses(p);
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
