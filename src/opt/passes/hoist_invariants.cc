#include "opt/passes/hoist_invariants.h"

#include "ir/eval/eval.h"
#include "opt/analysis/analysis_cache.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

/// A loop that the walk is in.
struct Loop {
  OpId op = none;
  bool direct = false;         // is in the block of the enclosing loop, regions aside
  bool runs = false;           // at least one iteration is sure
  bool may_have_left = false;  // an earlier op may have left the iteration
};

struct State {
  Program& p;
  PassContext& context;
  const Effects& effects;
  std::vector<Loop> loops;
  IdMap<ValueId, uint32_t> depth;  // by value: loops around its definition
  std::vector<uint32_t> ifs;       // per open loop: ifs around this place since the loop began
  bool changed = false;

  State(Program& program, PassContext& c)
      : p(program),
        context(c),
        effects(c.facts.effects()),
        depth(program.values.size(), 0),
        ifs{0} {}

  void enter(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    if (owner == none) return;
    const Opcode code = p.op(owner).code;
    if (code == Opcode::If) ++ifs.back();
    if (is_loop(code) && block == p.op(owner).first_block) {
      loops.push_back({owner, ifs.back() == 0, runs_once(owner), false});
      ifs.push_back(0);
    }
    for (const ValueId v : p.args(block)) depth[v] = uint32_t(loops.size());
  }

  void leave(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    if (owner == none) return;
    const Opcode code = p.op(owner).code;
    if (code == Opcode::If) --ifs.back();
    if (is_loop(code) && block + 1 == p.op(owner).first_block + p.op(owner).n_blocks) {
      loops.pop_back();
      ifs.pop_back();
      for (const ValueId v : p.results(owner)) depth[v] = uint32_t(loops.size());
      note_exits(owner);
    }
    if (code == Opcode::While && block == p.op(owner).first_block)
      loops.back().may_have_left = true;  // its test
  }

  void note_exits(OpId op) {
    if (!loops.empty() && (effects.of(op).leaves || effects.of(op).traps))
      loops.back().may_have_left = true;
  }

  /// The test of a `while` is always computed once; a `for` runs if its bounds say so.
  bool runs_once(OpId loop) const {
    if (p.op(loop).code == Opcode::While) return true;
    const auto bits = [&](uint32_t i) -> std::optional<uint64_t> {
      const OpId def = p.values[p.operand(loop, i)].def;
      if (def == none || p.op(def).code != Opcode::Const) return std::nullopt;
      return p.op(def).attr;
    };
    const auto lo = bits(0), hi = bits(1), step = bits(2);
    if (!lo || !hi || !step) return false;
    const Type t = p.type(p.operand(loop, 0));
    const uint64_t below[2] = {*lo, *hi}, up[2] = {0, *step};
    return eval_bits(Opcode::Lt, t, t, below, 2) && eval_bits(Opcode::Lt, t, t, up, 2);
  }

  /// The number of loops that the op has to stay in.
  size_t stays_in(OpId op) {
    size_t level = 0;
    for (const ValueId v : p.operands(op)) level = std::max<size_t>(level, depth[v]);
    if (ifs.back() != 0) return loops.size();
    const bool reads = info(p.op(op).code).effect == Effect::Read;
    size_t at = loops.size();
    while (at > level) {
      const Loop& loop = loops[at - 1];
      if (reads && !load_may_leave(op, loop)) break;
      --at;
      if (!loop.direct) break;
    }
    return at;
  }

  bool load_may_leave(OpId op, const Loop& loop) {
    if (effects.may_change(loop.op, p.memory(op).buffer)) {
      context.refuse(op, "the loop may change the buffer");
      return false;
    }
    if (!loop.runs || loop.may_have_left) {
      context.refuse(op, "the loop may not get to it");
      return false;
    }
    return true;
  }

  void visit(OpId op) {
    const Opcode code = p.op(op).code;
    const Effect effect = info(code).effect;
    if (!is_control(code)) note_exits(op);
    size_t level = loops.size();
    if (!loops.empty() && (effect == Effect::Pure || effect == Effect::Read)) {
      level = stays_in(op);
      if (level < loops.size()) {
        p.unlink(op);
        p.insert_before(loops[level].op, op);
        if (effect == Effect::Read) {
          MemoryRef m = p.memory(op);
          m.in_bounds = false;
          p.op(op).attr = m.pack();
        }
        changed = true;
      }
    }
    for (const ValueId v : p.results(op)) depth[v] = uint32_t(level);
  }
};

}  // namespace

Result<bool> hoist_invariants(Program& program, PassContext& context) {
  State s(program, context);
  walk_events(program, s);
  if (s.changed) compact(program);
  return s.changed;
}

}  // namespace vyre::opt
