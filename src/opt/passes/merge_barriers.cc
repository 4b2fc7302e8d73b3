#include "opt/passes/merge_barriers.h"

#include "opt/facts.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

/// What stands between two barriers of a block.
struct Stretch {
  uint64_t reads = 0, writes = 0;
  bool fixed = false;  // a barrier next to it must stay
};

struct State {
  Program& p;
  PassContext& context;
  Rewriter r;
  const Effects& effects;
  uint64_t shared_with_others = 0;
  bool found = false;

  State(Program& program, PassContext& c) : p(program), context(c), r(program), effects(c.facts.effects()) {
    for (uint32_t i = 0; i < p.buffers.size(); ++i)
      if (p.buffers[i].role != Role::Private) shared_with_others |= 1ull << i;
  }

  static bool conflict(const Stretch& a, const Stretch& b) {
    return (a.writes & (b.reads | b.writes)) || (a.reads & b.writes);
  }

  void run(BlockId block) {
    std::vector<OpId> barriers;
    std::vector<Stretch> stretches(1);
    // Anywhere but in the kernel's own body something comes before the block and after it.
    stretches.back().fixed = block != 0;
    for (OpId op = p.blocks[block].first; op != none; op = p.op(op).next) {
      if (p.op(op).code == Opcode::Barrier) {
        barriers.push_back(op);
        stretches.emplace_back();
        continue;
      }
      const EffectSummary& e = effects.of(op);
      Stretch& s = stretches.back();
      s.reads |= e.reads & shared_with_others;
      s.writes |= e.writes & shared_with_others;
      s.fixed |= e.barriers || e.acquires || e.leaves;
    }
    if (barriers.empty()) return;
    found = true;
    if (block != 0) stretches.back().fixed = true;
    for (size_t i = 0; i < barriers.size(); ++i) take_away(barriers, stretches, i);
  }

  /// Stretch i stands before barrier i, stretch i + 1 after it. What was merged lies in i + 1.
  void take_away(const std::vector<OpId>& barriers, std::vector<Stretch>& stretches, size_t i) {
    const Stretch& before = stretches[i];
    Stretch& after = stretches[i + 1];
    const bool nothing_between = !after.fixed && !after.reads && !after.writes && i + 1 < barriers.size() &&
                                 p.op(barriers[i]).attr <= p.op(barriers[i + 1]).attr;
    const bool free = !before.fixed && !after.fixed && !conflict(before, after);
    if (!nothing_between && !free) {
      if (!before.fixed && !after.fixed) context.refuse(barriers[i], "it separates accesses to one buffer");
      else context.refuse(barriers[i], "what it separates reaches beyond its block");
      return;
    }
    after.reads |= before.reads;
    after.writes |= before.writes;
    after.fixed |= before.fixed;
    r.remove(barriers[i]);
  }
};

}  // namespace

Result<bool> merge_barriers(Program& program, PassContext& context) {
  State s(program, context);
  for (BlockId block = 0; block < program.blocks.size(); ++block) s.run(block);
  context.nothing_to_do = !s.found;
  return s.r.finish();
}

}  // namespace vyre::opt
