#include "opt/passes/remove_dead_stores.h"

#include "opt/analysis/analysis_cache.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

constexpr size_t most_stores = 16;

struct State {
  Program& p;
  Rewriter r;
  const Effects& effects;
  std::vector<OpId> pending;  // stores of this block that were not observed so far

  State(Program& program, const Effects& e) : p(program), r(program), effects(e) {}

  void run(BlockId block) {
    pending.clear();
    for (OpId op = p.blocks[block].first; op != none;) {
      const OpId next = p.op(op).next;
      if (p.op(op).code == Opcode::Store)
        store(op);
      else
        look(op);
      op = next;
    }
  }

  void store(OpId op) {
    for (OpId& earlier : pending) {
      if (p.memory(earlier).buffer != p.memory(op).buffer) continue;
      if (p.operand(earlier, 0) != p.operand(op, 0)) continue;
      r.remove(earlier);
      earlier = op;
      return;
    }
    if (pending.size() >= most_stores) pending.erase(pending.begin());
    pending.push_back(op);
  }

  void look(OpId op) {
    const EffectSummary& e = effects.of(op);
    if (e.leaves || e.barriers || e.acquires) return pending.clear();
    std::erase_if(pending, [&](OpId s) {
      const BufferId buffer = p.memory(s).buffer;
      return ((e.reads | e.atomics) & bit_of(buffer)) ||
             (e.traps && p.buffers[buffer].role != Role::Private);
    });
  }
};

}  // namespace

Result<bool> remove_dead_stores(Program& program, PassContext& context) {
  State s(program, context.facts.effects());
  for (const BlockId block : program.blocks.ids()) s.run(block);
  return s.r.finish();
}

}  // namespace vyre::opt
