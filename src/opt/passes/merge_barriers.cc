#include "opt/passes/merge_barriers.h"

#include <array>

#include "opt/analysis/analysis_cache.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

constexpr size_t scopes = 3;

/// The effects between two barriers.
struct Stretch {
  uint64_t reads = 0, writes = 0;
  bool fixed = false;  // no barrier beside it may be removed
  bool traps = false;

  void add(const Stretch& o) {
    reads |= o.reads;
    writes |= o.writes;
    fixed |= o.fixed;
    traps |= o.traps;
  }
  bool is_empty() const { return !reads && !writes && !fixed; }
  bool conflicts(const Stretch& o) const {
    return (writes & (o.reads | o.writes)) || (reads & o.writes);
  }
};

using ByScope = std::array<Stretch, scopes>;

struct State {
  Program& p;
  PassContext& context;
  Rewriter r;
  const Effects& effects;
  uint64_t seen_by_others = 0;
  bool found = false;

  State(Program& program, PassContext& c)
      : p(program), context(c), r(program), effects(c.facts.effects()) {
    for (const BufferId i : p.buffers.ids())
      if (p.buffers[i].role != Role::Private) seen_by_others |= bit_of(i);
  }

  size_t scope(OpId barrier) const { return size_t(p.op(barrier).attr); }

  void run(BlockId block) {
    std::vector<OpId> barriers;
    std::vector<Stretch> stretches(1);  // stretch i precedes barrier i
    for (OpId op = p.blocks[block].first; op != none; op = p.op(op).next) {
      if (p.op(op).code == Opcode::Barrier) {
        barriers.push_back(op);
        stretches.emplace_back();
        continue;
      }
      const EffectSummary& e = effects.of(op);
      const bool ends_kernel = block == body_block && p.op(op).code == Opcode::Return;
      stretches.back().add({e.reads & seen_by_others, e.writes & seen_by_others,
                            e.barriers || e.acquires || (e.leaves && !ends_kernel), e.traps});
    }
    if (barriers.empty()) return;
    found = true;
    // Anywhere but in the kernel's body, accesses may precede and follow the block.
    if (block != body_block) stretches.front().fixed = stretches.back().fixed = true;
    decide(barriers, stretches);
  }

  void decide(const std::vector<OpId>& barriers, const std::vector<Stretch>& stretches) {
    // By barrier and scope: the effects after it, up to the next barrier of at least that scope.
    std::vector<ByScope> after(barriers.size());
    for (size_t i = barriers.size(); i-- > 0;)
      for (size_t s = 0; s < scopes; ++s) {
        after[i][s] = stretches[i + 1];
        if (i + 1 < barriers.size() && scope(barriers[i + 1]) < s) after[i][s].add(after[i + 1][s]);
      }
    // By scope: the effects since the last barrier that stays and is of at least that scope.
    ByScope before;
    Stretch since_last;  // since the last one that stays, whatever its scope
    OpId last = none;
    for (size_t i = 0; i < barriers.size(); ++i) {
      for (Stretch& b : before) b.add(stretches[i]);
      since_last.add(stretches[i]);
      const OpId barrier = barriers[i];
      const size_t s = scope(barrier);
      const bool before_larger = i + 1 < barriers.size() && stretches[i + 1].is_empty() &&
                                 !stretches[i + 1].traps && s <= scope(barriers[i + 1]);
      const bool after_larger =
          last != none && since_last.is_empty() && !since_last.traps && s <= scope(last);
      if (before_larger || after_larger || is_free(barrier, before[s], after[i][s])) {
        r.remove(barrier);
        continue;
      }
      for (size_t smaller = 0; smaller <= s; ++smaller) before[smaller] = {};
      since_last = {};
      last = barrier;
    }
  }

  bool is_free(OpId barrier, const Stretch& before, const Stretch& after) {
    if (before.fixed || after.fixed) {
      context.refuse(barrier, "what it separates reaches beyond its block or another barrier");
      return false;
    }
    if (before.conflicts(after)) {
      context.refuse(barrier, "it separates accesses to one buffer");
      return false;
    }
    if (scope(barrier) == size_t(Scope::Grid) && effects.of_program().traps) {
      context.refuse(barrier, "it decides which trap is reported");
      return false;
    }
    return true;
  }
};

}  // namespace

Result<bool> merge_barriers(Program& program, PassContext& context) {
  State s(program, context);
  for (const BlockId block : program.blocks.ids()) s.run(block);
  context.nothing_to_do = !s.found;
  return s.r.finish();
}

}  // namespace vyre::opt
